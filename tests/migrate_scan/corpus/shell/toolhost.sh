toolhost call --predecessor wordnet define_word word=tool
/usr/bin/toolhost call wordnet define_word --predecessor word=tool | jq .
toolhost call wordnet define_word word=tool
other call --predecessor wordnet
