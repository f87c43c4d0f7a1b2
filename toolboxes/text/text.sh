#!/usr/bin/env bash
# What takes more than one command for the toolbox `text`, see toolhost.yaml beside this file.
#
#   text.sh count < TEXT
#   text.sh diff -- BEFORE < AFTER
#   text.sh query -- FILTER < JSON
#   text.sh replace --regexp=PATTERN --replace=REPLACEMENT [OPTION OF rg]... < TEXT
#   text.sh find --regexp=PATTERN [OPTION OF rg]... < TEXT
#
# What cannot be done ends it with status 1 and a sentence for the caller.
set -euo pipefail
export LC_ALL=C.UTF-8

fail() { printf '%s\n' "$*" >&2; exit 1; }

# Sets text to what stands on stdin; $(...) would drop the line ends at its end.
read_text() {
  text=$(tr -d '\0' && printf .)
  text=${text%.}
}

count() {
  read_text
  local words characters lines
  read -r words characters < <(printf '%s' "$text" | wc -wm)
  # awk counts a last line without a line end too, wc does not.
  lines=$(printf '%s' "$text" | awk 'END { print NR }')
  printf '{"lines": %d, "words": %d, "characters": %d}\n' "$lines" "$words" "$characters"
}

# Its status 1 is: there is a difference.
diff() { command diff -u --label before --label after -- <(printf '%s' "$2") - || (($? == 1)); }

# Behind `. |` jq takes no import and no include, which could read files; it has no environment to tell, and no more than
# 1 GB of memory.
query() {
  local complaint
  { complaint=$(prlimit --as=1000000000 -- env -i "PATH=$PATH" jq -c "{results: [. | $2
]}" 2>&1 >&3); } 3>&1 && return
  # The first line is about the filter or the JSON, the next show what stands around the filter here.
  complaint=${complaint%%$'\n'*}
  case $complaint in
    *'parse error: '*) fail "the text is no JSON: ${complaint#*parse error: }" ;;
    *' at <top-level>'*)
      complaint=${complaint#jq: error: } complaint=${complaint%% at <top-level>*}
      fail "the filter is wrong: ${complaint% (Unix shell quoting*}"
      ;;
    'jq: error (at '*) fail "the filter does not fit the JSON: ${complaint#*): }" ;;
    *) fail "the filter cannot be run: ${complaint#jq: }" ;;
  esac
}

# Its status 1 is: nothing matched.
matching() {
  local complaint
  { complaint=$(rg --no-config --color=never --no-line-number --text "$@" - 2>&1 >&3) || (($? == 1)); } 3>&1 && return
  fail "the pattern is wrong: ${complaint##*error: }"
}

replace() {
  read_text
  # rg ends every line, the text may not.
  if [[ $text == *$'\n' ]]; then
    printf '%s' "$text" | matching --passthru "$@"
  else
    printf '%s' "$text" | matching --passthru "$@" | head -c -1
  fi
}

find() { matching --only-matching "$@"; }

verb=$1
shift
"$verb" "$@"
