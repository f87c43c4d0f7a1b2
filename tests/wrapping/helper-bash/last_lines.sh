source "$(dirname "$0")/toolhost.sh"
set -o pipefail

tool last_lines "The last lines of a text file." file:string! "The file." count:integer=10 "How many lines."
last_lines() {
  local lines
  lines=$(tail -n "${args[count]}" -- "${args[file]}" | jq -cRn '{lines: [inputs]}') || return
  reply_json "$lines"
}
serve
