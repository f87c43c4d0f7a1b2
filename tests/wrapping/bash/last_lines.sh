# @cmd The last lines of a text file.
# @option --count=10 <INT>  How many lines.
# @arg file!                The file.
last_lines() { tail -n "$argc_count" -- "$argc_file"; }

eval "$(argc --argc-eval "$0" "$@")"
