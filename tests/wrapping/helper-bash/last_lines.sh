source "$(dirname "$0")/toolhost.sh"

tool last_lines "The last lines of a text file." file:string! "The file." count:integer=10 "How many lines."
last_lines() { reply_json "$(tail -n "${args[count]}" -- "${args[file]}" | jq -cRn '{lines: [inputs]}')"; }

set -eo pipefail
serve
