#!/usr/bin/env bash
# @describe Looks into the files below one folder, and nowhere else. Changes nothing.
# @meta version 1.0.0
# @meta require-tools find,head,jq,realpath,rg,sort,stat,tail
# @env FILES_ROOT!  The folder
#
# Every path is resolved and must then lie below FILES_ROOT. Links are not followed on the way down; one that is named
# by a caller may lead anywhere below the folder. What cannot be done ends a call with status 1 and a sentence for the
# caller. Names reach jq between NULs, so that none can look like two.
set -euo pipefail
export LC_ALL=C.UTF-8

MOST_BYTES=262144 # of what read_file returns

# @cmd List what is in a folder: files, folders and links, with size and time of change.
# @option --folder=.  The folder, relative to the top one. Left out: the top one.
# @flag --hidden      Also what begins with a dot
# @option --limit=200 <INT>  The most entries wanted, up to 1000
list_folder() {
  enter "$argc_folder"
  within limit "$argc_limit" 1 1000
  local visible=(! -name '.*')
  [[ -z ${argc_hidden:-} ]] || visible=()
  look -maxdepth 1 "${visible[@]}"
}

# @cmd Find files and folders by name, in a folder and all below it.
# @arg name!               A part of the name; or a whole one in which * and ? stand for anything, such as *.md. Capitals do not matter.
# @option --folder=.       Where to look, relative to the top folder. Left out: everywhere.
# @option --kind[=any|file|folder|link]  What to find
# @flag --hidden           Also what begins with a dot, and in such folders
# @option --limit=50 <INT>  The most results wanted, up to 1000
find_files() {
  enter "$argc_folder"
  within limit "$argc_limit" 1 1000
  local visible=(-name '.*' -prune -o) kind=()
  [[ -z ${argc_hidden:-} ]] || visible=()
  case $argc_kind in
    file) kind=(-type f) ;;
    folder) kind=(-type d) ;;
    link) kind=(-type l) ;;
  esac
  local name=$argc_name
  [[ $name == *[][*?\\]* ]] || name="*$name*"
  look "${visible[@]}" -iname "$name" "${kind[@]}"
}

# @cmd Search in the text of files for a regular expression. Returns the lines that match, with file and number.
# @arg pattern!            A regular expression as in ripgrep (Rust)
# @option --folder=.       Where to look, relative to the top folder. Left out: everywhere.
# @option --glob*          Only files whose names fit, such as *.md; with ! before it, all but these
# @flag --literal          The pattern is plain text, in which . and * mean themselves
# @flag --ignore-case      Upper and lower case are the same
# @flag --all              Also hidden files, and those that a .gitignore names
# @option --context=0 <INT>  Lines wanted before and after each match, up to 20
# @option --limit=50 <INT>   The most lines wanted, up to 1000
search_files() {
  enter "$argc_folder"
  within context "$argc_context" 0 20
  within limit "$argc_limit" 1 1000
  local options=(--no-config --no-ignore-parent --no-ignore-global --no-follow) complaint
  [[ -z ${argc_literal:-} ]] || options+=(--fixed-strings)
  [[ -z ${argc_ignore_case:-} ]] || options+=(--ignore-case)
  [[ -z ${argc_all:-} ]] || options+=(--hidden --no-ignore)
  for glob in "${argc_glob[@]}"; do options+=("--glob=$glob"); done
  options+=("--regexp=$argc_pattern")
  # On nothing first: a pattern that is wrong is an error, a file that cannot be read is none.
  complaint=$(rg "${options[@]}" - 2>&1 < /dev/null) || (($? == 1)) ||
    fail "the pattern or glob is wrong: ${complaint##*error: }"

  { rg "${options[@]}" --json --sort=path "--context=$argc_context" -- . 2> /dev/null < /dev/null || true; } |
    { jq -c --arg below "$below" '
      def text: .text // (.bytes | @base64d);
      select(.type == "match" or .type == "context")
      | {path: ($below + (.data.path | text | ltrimstr("./"))), line: .data.line_number,
         text: (.data.lines | text | rtrimstr("\n") | rtrimstr("\r") | .[:500])}
        + (if .type == "context" then {context: true} else {} end)' || cut_short; } |
    head -n "$((argc_limit + 1))" |
    jq -sc --argjson limit "$argc_limit" '{lines: .[:$limit], more: (length > $limit)}'
}

# @cmd Read a text file, or some lines of it.
# @arg path!                The file, relative to the top folder
# @option --first=1 <INT>   The number of the first line wanted
# @option --lines=500 <INT>  The most lines wanted, up to 5000
read_file() {
  within first "$argc_first" 1 1000000000
  within lines "$argc_lines" 1 5000
  resolve "$argc_path"
  [[ ! -d $there ]] || fail "'$argc_path' is a folder; list_folder shows what is in it"
  # A pipe would keep the caller waiting, a device has no end.
  [[ -f $there ]] || fail "'$argc_path' is no regular file"
  [[ -r $there ]] || fail "'$argc_path' may not be read"
  [[ $(head -c 8192 -- "$there" | tr -dc '\0' | wc -c) == 0 ]] || fail "'$argc_path' is no text"
  { tail -n "+$argc_first" -- "$there" || cut_short; } | { head -n "$((argc_lines + 1))" || cut_short; } |
    head -c "$((MOST_BYTES + 1))" |
    jq -Rsc --arg path "${there#"$root/"}" --argjson first "$argc_first" --argjson most "$argc_lines" \
      --argjson bytes "$MOST_BYTES" '
      (utf8bytelength > $bytes) as $cut
      | split("\n") as $all
      | (if $all[-1] == "" then $all[:-1] else $all end) as $lines
      | {path: $path, first: $first, lines: ([($lines | length), $most] | min), text: ($lines[:$most] | join("\n")),
         more: ($cut or ($lines | length) > $most)}'
}

# @cmd What a file or folder is: its kind, size, time of change and permissions.
# @arg path!  The file or folder, relative to the top folder
file_info() {
  resolve "$argc_path"
  command stat --printf '%F\0%s\0%Y\0%A\0' -- "$there" |
    jq -Rsc --arg path "${there#"$root/"}" --arg root "$root" '
      split("\u0000") | {
        path: (if $path == $root then "." else $path end),
        kind: (.[0] | if . == "directory" then "folder" elif startswith("regular") then "file" else . end),
        size_bytes: (.[1] | tonumber), modified: (.[2] | tonumber | todate), permissions: .[3]}'
}

# Whether a program ended because no more of what it prints was wanted: by SIGPIPE.
cut_short() { (($? == 141)); }

fail() { printf '%s\n' "$*" >&2; exit 1; }

within() {
  (($2 >= $3 && $2 <= $4)) || fail "$1 must be from $3 to $4"
}

# Sets root and there, what the path leads to; both without links.
resolve() {
  local path=$1 shown=${1:0:200}
  shown=${shown//$'\n'/ }
  root=$(realpath -e -- "$FILES_ROOT" && printf .) || fail "the folder of this toolbox does not exist"
  root=${root%$'\n.'}
  [[ -d $root ]] || fail 'the root of this toolbox is no folder'
  [[ $root != / ]] || fail 'the root of this toolbox may not be /'
  [[ $path == *[![:space:]]* ]] || path=.
  [[ /$path/ != */../* ]] || fail "'$shown' has '..' in it, which is not allowed: write it from the top folder"
  local top=${FILES_ROOT%/}
  [[ $path/ != "$top"/* ]] || path=$root${path#"$top"} # the top folder may itself be a link
  [[ $path != /* || $path/ == "$root"/* ]] || fail "'$shown' is outside of the top folder: write it from there, without a /"
  path=${path#"$root"}
  # The dot keeps a line end that the name has itself.
  there=$(realpath -e -- "$root/$path" 2> /dev/null && printf .) || fail "there is no such file or folder: '$shown'"
  there=${there%$'\n.'}
  [[ $there/ == "$root"/* ]] || fail "'$shown' leads out of the top folder"
}

# Goes into a folder. Sets below, what stands before the paths in it.
enter() {
  resolve "$1"
  [[ -d $there ]] || fail "'$1' is no folder"
  cd -- "$there" 2> /dev/null || fail "'$1' may not be read"
  below=${there#"$root"}
  below=${below#/}
  below=${below:+$below/}
}

# What `find` finds here, sorted by name.
look() {
  { command find -P . -mindepth 1 "$@" -printf '%y\t%s\t%T@\t%P\0' 2> /dev/null || true; } |
    # jq 1.6 loses a NUL at the very end, so a line end comes after it.
    sort -z -t $'\t' -k 4 | { head -z -n "$((argc_limit + 1))"; cat > /dev/null; echo; } |
    jq -Rsc --arg below "$below" --argjson limit "$argc_limit" '
      def kind: {f: "file", d: "folder", l: "link"}[.] // "other";
      split("\u0000")[:-1]
      | {entries: [.[:$limit][] | split("\t") | {
          path: ($below + (.[3:] | join("\t"))), kind: (.[0] | kind), size_bytes: (.[1] | tonumber),
          modified: (.[2] | tonumber | floor | todate)}], more: (length > $limit)}'
}

eval "$(argc --argc-eval "$0" "$@")"
