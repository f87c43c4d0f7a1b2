#!/bin/bash
# @describe Playlists, one JSON file each
# @meta require-tools jq,sort

DIR="$HOME/Music/playlists"
shopt -s nullglob

# @cmd Make a playlist, or add to one
# @option -t --tag*   Any number of tags
# @flag --shuffle     Mix the songs
# @arg name!          Name of the playlist
# @arg songs+         The songs
add() {
  mkdir -p "$DIR"
  local file="$DIR/$argc_name.json" songs=("${argc_songs[@]}")
  [ -f "$file" ] || echo '{"songs": [], "tags": []}' > "$file"
  if [ "$argc_shuffle" = 1 ]; then
    mapfile -t songs < <(printf '%s\n' "${songs[@]}" | sort -R)
  fi
  local new
  new=$(jq '.songs += $ARGS.positional' "$file" --args -- "${songs[@]}") || exit
  new=$(jq '.tags = (.tags + $ARGS.positional | unique)' --args -- "${argc_tag[@]}" <<< "$new") || exit
  echo "$new" > "$file"
  jq -c '{songs: (.songs | length), tags}' "$file"
}

# @cmd All playlists
list() {
  local file first=1
  printf '['
  for file in "$DIR"/*.json; do
    [ $first = 1 ] || printf ','
    first=0
    jq -c --arg name "$(basename "$file" .json)" '{name: $name, songs: (.songs | length)}' "$file"
  done
  echo ']'
}

# Call the function
eval "$(argc --argc-eval "$0" "$@")"
