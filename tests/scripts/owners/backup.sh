#!/usr/bin/env bash
# @describe Snapshots of single files, kept in ~/.snapshots
# @version 1.2.0
# @env SNAPSHOT_DIR   Where to keep them

set -eu

STORE=${SNAPSHOT_DIR:-$HOME/.snapshots}

_name() { basename -- "$1" | tr ' ' '_'; }

# @cmd Save a copy of a file
# @alias s
# @option -m --message              Why, in a word or two
# @option -c --compress[=none|gzip] Compress the copy
# @flag   -q --quiet                Say nothing
# @arg    file!                     The file
save() {
    [[ -f $argc_file ]] || { echo "no such file: $argc_file" >&2; exit 2; }
    mkdir -p "$STORE"
    local number copy
    number=$(find "$STORE" -name "$(_name "$argc_file").*" ! -name '*.msg' | wc -l)
    copy=$STORE/$(_name "$argc_file").$((number + 1))
    cp -- "$argc_file" "$copy"
    if [[ $argc_compress == gzip ]]; then
        gzip "$copy"
        copy+=.gz
    fi
    if [[ -n ${argc_message:-} ]]; then echo "$argc_message" > "$copy.msg"; fi
    [[ -n ${argc_quiet:-} ]] || echo "saved as $(basename "$copy")"
}

# @cmd List the copies
# @option --limit <INT>  Not more than so many
# @arg name              Only of this file
list() {
    mkdir -p "$STORE"
    find "$STORE" -type f ! -name '*.msg' -name "${argc_name:-}*" -printf '%f\n' | sort | head -n "${argc_limit:-100}"
}

# @cmd Print a copy
# @arg copy!  Its name, as list prints it
cat_() {
    case $argc_copy in
    */*) echo "just the name please" >&2; exit 1 ;;
    *.gz) gzip -dc "$STORE/$argc_copy" ;;
    *) cat "$STORE/$argc_copy" ;;
    esac
}

eval "$(argc --argc-eval "$0" "$@")"
