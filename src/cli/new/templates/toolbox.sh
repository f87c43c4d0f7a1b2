#!/usr/bin/env bash
# @NAME@: two tools to start from. Change them, add more, then run `toolhost check -- ./@FILE@`.
source "$(dirname "$0")/toolhost.sh"

tool hello "Greets someone." \
  name:string=world "Whom to greet."
hello() {
  echo "Hello, ${args[name]}!" # what a tool prints is its result
}

tool birthday "Tells when someone has their birthday." \
  name:string! "Whose birthday it is."
birthday() {
  case ${args[name]} in
    Ada) echo "10 December" ;;
    Grace) echo "9 December" ;;
    *) fail LookupError "nobody called ${args[name]} is in the book" ;; # the caller reads this
  esac
}

serve
