#!/usr/bin/env bash

# @describe Counts the lines of a log by level.
# @option --level*[ERROR|WARN|INFO]  only these levels
# @option --since                    only lines from this time on (text compare!)
# @flag --total                      just the sum
# @arg log!                          the log file

main() {
    declare -A counts=()
    local line level sum=0
    while read -r line; do
        [[ -z ${argc_since:-} || ! $line < $argc_since ]] || continue
        for level in ERROR WARN INFO; do
            [[ $line == *" $level "* ]] || continue
            if ((${#argc_level[@]})) && [[ " ${argc_level[*]} " != *" $level "* ]]; then continue; fi
            counts[$level]=$((${counts[$level]:-0} + 1))
            sum=$((sum + 1))
        done
    done < "$argc_log"
    if [[ $argc_total ]]; then echo "$sum"; return; fi
    for level in ERROR WARN INFO; do
        echo "$level: ${counts[$level]:-0}"
    done
}

eval "$(argc --argc-eval "$0" "$@")"
