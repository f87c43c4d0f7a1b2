#!/usr/bin/env bash
# What takes more than one command for the toolbox `text`, see toolhost.yaml beside this file.
#
#   text.sh count < TEXT
#   text.sh diff -- BEFORE < AFTER
set -euo pipefail
export LC_ALL=C.UTF-8

case $1 in
  count)
    text=$(tr -d '\0' && printf .) # $(...) would drop line ends at the end
    text=${text%.}
    read -r words characters < <(printf '%s' "$text" | wc -wm)
    # awk counts a last line without a line end too, wc does not.
    lines=$(printf '%s' "$text" | awk 'END { print NR }')
    printf '{"lines": %d, "words": %d, "characters": %d}\n' "$lines" "$words" "$characters"
    ;;
  diff) exec diff -u --label before --label after -- <(printf '%s' "$3") - ;;
esac
