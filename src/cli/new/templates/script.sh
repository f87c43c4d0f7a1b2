#!/usr/bin/env bash
# @describe @NAME@: each function below a @cmd is a tool, and the comments tell what it takes.

# @cmd Greets someone.
# @option --name=world  Whom to greet.
hello() {
  echo "Hello, $argc_name!"
}

# @cmd Tells when someone has their birthday.
# @arg name!  Whose birthday it is.
birthday() {
  case $argc_name in
    Ada) echo "10 December" ;;
    Grace) echo "9 December" ;;
    *) echo "nobody called $argc_name is in the book" >&2; exit 1 ;; # the caller reads this
  esac
}

command -v argc > /dev/null || { echo "this needs argc: https://github.com/sigoden/argc" >&2; exit 1; } # by hand only
eval "$(argc --argc-eval "$0" "$@")"
