#!/usr/bin/env bash
# A toolbox: what the machine is doing, from df and /proc. Speaks the stdio protocol of toolhost, version 1.
# Needs Linux, Bash 4.2 and jq.

# Numbers with a decimal point and messages in English, whatever the user's locale.
export LC_ALL=C TZ=UTC0

# stdout belongs to the protocol. It moves to 3, and whatever a command below prints by itself goes to the log.
exec 3>&1 1>&2

command -v jq >/dev/null || { echo "system.sh needs jq: apt install jq"; exit 127; }
page=$(getconf PAGESIZE) || page=4096
ticks=$(getconf CLK_TCK) || ticks=100

# The tools, with `parameters` instead of a schema of the arguments: toolhost derives that.
read -r -d '' description <<'EOF_JSON'
{
  "protocol": 1, "version": "1.0.0", "description": "What this machine is doing: disks, memory, uptime, processes.",
  "tools": [
    {
      "name": "disk",
      "description": "Space on the file systems of this machine, in bytes: all local ones, or the one that holds a path.",
      "parameters": [
        {"name": "path", "type": "string", "minLength": 1, "examples": ["/", "/home"],
         "description": "A file or folder; only the file system it lies on is reported. Left out: all local ones."}
      ],
      "output_schema": {
        "type": "object", "required": ["filesystems"],
        "properties": {"filesystems": {"type": "array", "items": {
          "type": "object",
          "required": ["mount", "type", "total_bytes", "used_bytes", "available_bytes", "used_percent"],
          "properties": {
            "mount": {"type": "string", "description": "Where it is mounted."},
            "type": {"type": "string", "description": "Kind of file system, such as ext4."},
            "total_bytes": {"type": "integer", "minimum": 0},
            "used_bytes": {"type": "integer", "minimum": 0},
            "available_bytes": {"type": "integer", "minimum": 0, "description": "What a user without privileges may still write."},
            "used_percent": {"type": "integer", "minimum": 0, "maximum": 100}
          }}}}
      },
      "hints": {"readOnly": true, "destructive": false, "idempotent": true, "openWorld": false}
    },
    {
      "name": "memory",
      "description": "Main memory and swap of this machine, in bytes.",
      "parameters": [],
      "output_schema": {
        "type": "object",
        "required": ["total_bytes", "used_bytes", "available_bytes", "used_percent", "swap_total_bytes", "swap_used_bytes"],
        "properties": {
          "total_bytes": {"type": "integer", "minimum": 0},
          "used_bytes": {"type": "integer", "minimum": 0, "description": "Total less available."},
          "available_bytes": {"type": "integer", "minimum": 0, "description": "What programs can still get without swapping."},
          "used_percent": {"type": "number", "minimum": 0, "maximum": 100},
          "swap_total_bytes": {"type": "integer", "minimum": 0},
          "swap_used_bytes": {"type": "integer", "minimum": 0}
        }
      },
      "hints": {"readOnly": true, "destructive": false, "idempotent": true, "openWorld": false}
    },
    {
      "name": "uptime",
      "description": "How long this machine has been running, since when, and how busy it is.",
      "parameters": [],
      "output_schema": {
        "type": "object", "required": ["uptime_seconds", "booted_at", "load_average", "cpus"],
        "properties": {
          "uptime_seconds": {"type": "number", "minimum": 0},
          "booted_at": {"type": "string", "format": "date-time", "description": "Time of the start, in UTC."},
          "load_average": {"type": "array", "items": {"type": "number", "minimum": 0}, "minItems": 3, "maxItems": 3,
                           "description": "Mean number of busy processes over 1, 5 and 15 minutes; compare with cpus."},
          "cpus": {"type": "integer", "minimum": 1}
        }
      },
      "hints": {"readOnly": true, "destructive": false, "idempotent": true, "openWorld": false}
    },
    {
      "name": "processes",
      "description": "The processes that use most of the processor or of the memory, the greatest first.",
      "parameters": [
        {"name": "by", "type": "string", "enum": ["cpu", "memory"], "default": "cpu",
         "description": "What to rank them by: cpu (share of one processor since the process began) or memory."},
        {"name": "limit", "type": "integer", "minimum": 1, "maximum": 50, "default": 10,
         "description": "How many to return."}
      ],
      "output_schema": {
        "type": "object", "required": ["processes"],
        "properties": {"processes": {"type": "array", "maxItems": 50, "items": {
          "type": "object", "required": ["pid", "name", "cpu_percent", "cpu_seconds", "memory_bytes"],
          "properties": {
            "pid": {"type": "integer", "minimum": 1},
            "name": {"type": "string"},
            "cpu_percent": {"type": "number", "minimum": 0, "description": "100 is one processor, fully busy."},
            "cpu_seconds": {"type": "number", "minimum": 0},
            "memory_bytes": {"type": "integer", "minimum": 0, "description": "Resident memory."}
          }}}}
      },
      "hints": {"readOnly": true, "destructive": false, "idempotent": true, "openWorld": false}
    }
  ]
}
EOF_JSON

# One jq reads every request, for as long as the toolbox lives: starting it anew for each line would cost more than
# most of the tools. It lays the fields out one after another, each ended by a NUL, which no argument of a command can
# hold; so a blank, a quote or a newline in a path needs no care below.
reader='
  def text: if type == "number" and . == floor then floor else . end | tostring | split("\u0000") | join("");
  ltrimstr("\ufeff") | select(test("\\S")) | . as $line | (try fromjson catch null)
  | if type != "object" then ["", $line[:200]]
    elif has("id") then
      (.kwargs | type) as $kwargs
      | [(.id | tojson), .op, .name, $kwargs] +
        (if $kwargs == "object" then .kwargs else {} end | [.path // "", .by // "cpu", .limit // 10])
    else empty  # nobody waits for an answer to it
    end
  | .[:7] + [range(7 - length) | ""] | map(text + "\u0000") | add'

result() { printf '{"id":%s,"result":%s}\n' "$id" "${1//$'\n'/ }" >&3; }

# Errors may hold anything the caller sent, so jq puts them into JSON, and they are clipped: an argument has a limit.
fail() { jq -cn --argjson id "$id" --arg error "${1:0:500}" '{id: $id, error: $error}' >&3; }

disk() {
  # Neither memory nor read-only images nor firmware is a disk.
  local which=(--local --exclude-type={tmpfs,devtmpfs,squashfs,efivarfs})
  if [[ $path ]]; then
    [[ -e $path ]] || { fail "FileNotFoundError: no such path: '${path:0:200}'"; return; }
    which=(-- "$path")
  fi
  # The mount point stands last, so the blanks in it are its own. df may print a warning about one file system and
  # still report the others: what counts is whether anything came.
  local found
  found=$(df --block-size=1 --output=fstype,size,used,avail,target "${which[@]}" | jq -cRn '
    def number: tonumber? // 0;  # df writes "-" where a file system has no size
    [inputs
     | capture("^(?<type>\\S+) +(?<size>[0-9-]+) +(?<used>[0-9-]+) +(?<free>[0-9-]+) (?<mount>.*)$")
     | (.used | number) as $used | (.free | number) as $free
     | {mount, type, total_bytes: (.size | number), used_bytes: $used, available_bytes: $free,
        # As df reckons it: of what users can have, rounded up.
        used_percent: (if $used + $free > 0 then $used * 100 / ($used + $free) | ceil else 0 end)}]
    | select(length > 0) | {filesystems: .}')
  if [[ $found ]]; then result "$found"; else fail "OSError: df reported nothing"; fi
}

memory() {
  local key value _ total=0 available=0 swap_total=0 swap_free=0
  while read -r key value _; do
    case $key in
      MemTotal:) total=$((value * 1024)) ;;
      MemAvailable:) available=$((value * 1024)) ;;
      SwapTotal:) swap_total=$((value * 1024)) ;;
      SwapFree:) swap_free=$((value * 1024)) ;;
    esac
  done < /proc/meminfo
  (( total )) || { fail "OSError: /proc/meminfo tells no total"; return; }
  local used=$((total - available))
  local permille=$((used * 1000 / total)) json
  printf -v json '{"total_bytes":%d,"used_bytes":%d,"available_bytes":%d,"used_percent":%d.%d,' \
    "$total" "$used" "$available" $((permille / 10)) $((permille % 10))
  result "$json\"swap_total_bytes\":$swap_total,\"swap_used_bytes\":$((swap_total - swap_free))}"
}

uptime() {
  local seconds one five fifteen key value _ booted cpus=0
  read -r seconds _ < /proc/uptime
  read -r one five fifteen _ < /proc/loadavg
  while read -r key value _; do
    case $key in
      cpu[0-9]*) cpus=$((cpus + 1)) ;;
      btime) printf -v booted '%(%Y-%m-%dT%H:%M:%SZ)T' "$value" ;;
    esac
  done < /proc/stat
  [[ $seconds && $fifteen && $booted ]] || { fail "OSError: /proc is not to be read"; return; }
  result "{\"uptime_seconds\":$seconds,\"booted_at\":\"$booted\",\"load_average\":[$one,$five,$fifteen],\"cpus\":$cpus}"
}

processes() {
  # Checked here too, not by the host alone: a text that is no number must not get into an arithmetic expression.
  [[ $limit =~ ^[0-9]{1,2}$ ]] && (( 10#$limit >= 1 && 10#$limit <= 50 )) ||
    { fail "ValueError: limit must be a whole number from 1 to 50"; return; }
  [[ $by == cpu || $by == memory ]] || { fail "ValueError: by must be cpu or memory"; return; }
  local seconds _
  read -r seconds _ < /proc/uptime
  result "$(process_table | jq -cRn --arg by "$by" --argjson limit "$limit" \
    --argjson now "$seconds" --argjson ticks "$ticks" --argjson page "$page" '
    [inputs / "\t" | {name: .[0], numbers: (.[1:] | map(tonumber))} | .numbers as [$pid, $busy, $start, $pages]
     | {pid: $pid, name, cpu_seconds: ($busy / $ticks), memory_bytes: ($pages * $page),
        # One that has just begun has hardly an age to divide by, so it counts as a second old.
        age: ([$now - $start / $ticks, 1] | max)}
     | .cpu_percent = (.cpu_seconds / .age * 1000 | round / 10) | del(.age)]
    | {processes: (sort_by(if $by == "cpu" then -.cpu_percent else -.memory_bytes end) | .[:$limit])}')"
}

# One line a process: name, pid, ticks of processor time, tick of its start, pages of resident memory. The command line
# is left out on purpose: people put passwords there.
process_table() {
  local file stat name fields
  for file in /proc/[0-9]*/stat; do
    # The whole file at once, without a fork; the process may be gone by now.
    stat=
    { IFS= read -r -d '' stat < "$file"; } 2>/dev/null
    # pid (name) state ppid ...; the name may itself hold blanks and parentheses, so it ends at the last one.
    [[ $stat == *') '* ]] || continue
    name=${stat#*\(} name=${name%)*}
    fields=(${stat##*) })
    printf '%s\t%d\t%d\t%d\t%d\n' "${name//[$'\t\n']/?}" "${stat%% *}" \
      $((fields[11] + fields[12])) "${fields[19]}" "${fields[21]}"
  done
}

# Requests come through 4, and stdin is empty, so that no command below can eat a request.
exec 4< <(exec jq --unbuffered -jR "$reader")
exec </dev/null

while IFS= read -r -d '' -u 4 id; do
  for field in op name kwargs path by limit; do IFS= read -r -d '' -u 4 "$field"; done
  if [[ ! $id ]]; then
    echo "skipped a line that is no request: $op"
  elif [[ $op == describe ]]; then
    result "$description"
  elif [[ $op != call ]]; then
    fail "Unknown op: '${op:0:80}'"
  elif [[ $kwargs != object && $kwargs != null ]]; then
    fail "TypeError: kwargs must be an object"
  else
    # Named one by one: a name from outside must not run whatever function or program it happens to fit.
    case $name in
      disk | memory | uptime | processes) "$name" ;;
      *) fail "Unknown tool: '${name:0:80}'" ;;
    esac
  fi
done
exit 0
