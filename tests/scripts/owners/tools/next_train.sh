#!/usr/bin/env bash
set -e

# @describe Find the next train from the timetable at home.
# @option --station! The station to go to, as in the timetable.
# @option --after=00:00 Not before this time, like 17:30.

# @env LLM_OUTPUT=/dev/stdout Where the answer goes
# @env TIMETABLE=timetable.txt The file with a line "HH:MM station" for each train

main() {
    found="$(sort "$HOME/$TIMETABLE" | awk -v after="$argc_after" -v to="$argc_station" '$1 >= after && substr($0, 7) == to { print $1; exit }')"
    echo "looking in $TIMETABLE"
    if [[ -z $found ]]; then
        echo "no train to $argc_station after $argc_after" >> "$LLM_OUTPUT"
    else
        echo "$found" >> "$LLM_OUTPUT"
    fi
}

eval "$(argc --argc-eval "$0" "$@")"
