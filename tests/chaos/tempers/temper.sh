#!/usr/bin/env bash
# The tempers of temper.py in Bash; what a shell script does not do is left out.

answer() { printf '{"id": %s, "result": {"token": "%s"}}\n' "$id" "$token"; }

crash() {
  if ((roll < 8)); then kill -KILL $$; fi
  if ((roll < 20)); then
    echo 'no more of this' >&2
    exit 3
  fi
  answer
}

hang() {
  if ((roll < 4)); then sleep 600; fi
  answer
}

flood() {
  printf 'x%.0s' {1..10000}
  echo
  printf 'line %s\n' {1..200} >&2
  answer
}

noise() {
  printf 'Processing request\n\n{\n\xff\n{"id": null}\n{"id": %s9999, "result": "of nobody"}\n' "$id"
  answer
  if ((roll < 30)); then answer; fi
}

slow() {
  sleep "$(printf '0.%03d' $((roll * 3)))"
  answer
}

leak() {
  printf -v more '%*s' $((roll * 2000)) ''
  kept+=$more
  answer
}

fork() {
  # setsid: one that leaves the group.
  if ((roll < 30)); then setsid sleep 300 & else sleep 300 & fi
  if ((roll < 5)); then exit 0; fi
  answer
}

healthy() { answer; }

temper=healthy kept=
while IFS= read -r line; do
  [[ $line =~ '"id":'\ ?([0-9]+) ]] && id=${BASH_REMATCH[1]}
  if [[ $line == *'"op":"describe"'* ]]; then
    [[ $line =~ '"temper":'\ ?'"'([a-z]+)'"' ]] && temper=${BASH_REMATCH[1]}
    printf '{"id": %s, "result": {"tools": [{"name": "do", "description": "Does what its temper says."}]}}\n' "$id"
    continue
  fi
  [[ $line =~ '"token":'\ ?'"'([^\"]+)'"' ]] && token=${BASH_REMATCH[1]}
  [[ $line =~ '"roll":'\ ?([0-9]+) ]] && roll=${BASH_REMATCH[1]}
  "$temper"
done
