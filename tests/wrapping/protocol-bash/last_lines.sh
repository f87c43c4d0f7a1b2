last_lines='{"name": "last_lines", "description": "The last lines of a text file.", "parameters": [
  {"name": "file", "type": "string", "required": true, "description": "The file."},
  {"name": "count", "type": "integer", "default": 10, "description": "How many lines."}]}'
while IFS= read -r line; do
  case $(jq -r '"\(.op) \(.name)"' <<< "$line") in
  describe*) answer="{\"result\": {\"tools\": [$last_lines]}}" ;;
  'call last_lines')
    if text=$(tail -n "$(jq .kwargs.count <<< "$line")" -- "$(jq -r .kwargs.file <<< "$line")" 2>&1); then
      answer=$(jq -Rn '{result: {lines: [inputs]}}' <<< "$text")
    else
      answer=$(jq -n --arg why "$text" '{error: "OSError: \($why)"}')
    fi ;;
  *) answer='{"error": "LookupError: unknown tool or operation"}' ;;
  esac
  jq -c --argjson answer "$answer" '{id} + $answer' <<< "$line"
done
