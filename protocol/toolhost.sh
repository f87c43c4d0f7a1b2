# shellcheck shell=bash
# toolhost.sh: a toolbox for toolhost in plain Bash (4.2 or later). Copy this file beside yours; it needs nothing else.
#
#   #!/usr/bin/env bash
#   source "$(dirname "$0")/toolhost.sh"
#   tool greet "Says hello." name:string=world "Whom to greet"
#   greet() { echo "Hello, ${args[name]}!"; }
#   tool divide "Divides two whole numbers." a:integer! "What is divided" b:integer! "By what"
#   divide() { ((args[b])) || fail ZeroDivisionError "b is 0"; reply_json "$((args[a] / args[b]))"; }
#   serve
#
# DECLARE   toolbox "DESCRIPTION" [--version V] [--context]
#           tool NAME "DESCRIPTION" [OPTION]... [PARAMETER ["DESCRIPTION"] [FIELD=VALUE]...]...
#   PARAMETER  name:TYPE, name:TYPE! (required) or name:TYPE=DEFAULT. TYPE is string, integer, number, boolean, object,
#              array, or string[] and the like for an array of them. The host checks arguments, and fills defaults in.
#   FIELD      minimum, maximum, minLength, maxLength, pattern, format, enum=a,b,c or enum='["a","b"]', examples, items
#   OPTION     --timeout 2m, --title T, --category C, --version V, --read-only, --destructive, --idempotent, --open-world,
#              --schema JSON (of the arguments, instead of parameters), --output JSON (the schema of the result),
#              --run FUNCTION (where the function is not called as the tool is)
# ARGUMENTS args[name]: the text of a string; a number, true or false as it is; an array or object as JSON. null is unset.
#           arg_list NAME ARRAY       the elements of an array, as the Bash array ARRAY; returns 1 without such an argument
#           $kwargs $config $context  JSON: all arguments; the configuration's `config:`; the Message's context (--context)
#           json_get [-v VAR] JSON KEY...   the value at the keys (or indexes from 0), printed or put into VAR; 1 if absent
# ANSWER    What a tool prints is its result, a text without the newlines at the end, as in $(tool). To answer otherwise:
#           reply TEXT...                        a text, whatever is printed then goes to the log
#           reply_json JSON                      JSON, checked
#           reply_lines TEXT... | ... | reply_lines   an array of texts: the arguments, or else the lines of stdin
#           reply_object key=text key:=json...   an object
#           fail TYPE MESSAGE                    the error `TYPE: MESSAGE`; the tool ends here
#           The first answer counts. A tool that ends with another status than 0, and without an answer, is the error
#           `CommandError: exit status 3: last lines of its stderr`. json_quote [-v VAR] TEXT writes a text as JSON.
#
# Each call runs in a subshell: exit, cd, set -e, variables and background jobs of one never reach the next. stdin of a
# tool is empty, stderr is the log. Use ((...)) only on parameters declared integer: Bash runs commands it finds in there.

# From here on a stray `echo` or `read` of the toolbox cannot touch the protocol.
exec {_th_in}<&0 {_th_out}>&1 </dev/null >&2

declare -A _th_functions=() _th_types=() args=()
declare -a _th_keys=() _th_values=()
_th_tools='' _th_head='' _th_calls=0 _th_folder='' _th_log='' _th_tail='' _th_answer='' _th_kind='' _th_text=''
kwargs='{}' config='{}' context='{}'

# Bytes, as every function here works in LC_ALL=C: linear in the length, and no locale needs to be installed.
_th_control=$'[\1-\10\13\14\16-\37]'
_th_special=$'["\\\\\1-\37\200-\377]'
_th_high=$'[\200-\377]'
_th_blank=$'[\t\r\n]'
_th_utf8=$'([\1-\177]+|[\302-\337][\200-\277]|\340[\240-\277][\200-\277]|[\341-\354\356\357][\200-\277]{2}'
_th_utf8+=$'|\355[\200-\237][\200-\277]|\360[\220-\277][\200-\277]{2}|[\361-\363][\200-\277]{3}|\364[\200-\217][\200-\277]{2})'
_th_token=$'^[ \t\r\n]*([][{}:]|[^][{}:, \t\r\n]+)(.*)$'
_th_usual='^\{"id":([0-9]+),"op":"call","name":"([^"\]*)","kwargs":'
_th_number='-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?'
_th_hex='[0-9a-fA-F]'

_th_die() {
    printf '%s: %s\n' "$0" "$1" >&2
    exit 2
}

# ---- JSON ------------------------------------------------------------------------------------------------------------

# Takes JSON text apart, or returns 1. Sets _th_kind, and of an array _th_values, of an object _th_keys as well: the
# elements as JSON without blanks between tokens, the keys without their quotes. With `strict` escapes are checked too,
# which whoever reads the strings does anyway. The text is split at its quotes, which is one pass: every second part is
# the inside of a string. A loop over characters would take seconds. It is long and calls little, for the same reason.
_th_parse() {
    local LC_ALL=C IFS='"' flags=$- text=$1 stack='' state=v string token part blank='' i=0 j first n
    local -a parts tokens nested=()
    _th_kind='' _th_keys=() _th_values=()
    # Not `== *[...]*` for long texts: a regular expression is ten times as fast.
    [[ ! $text =~ $_th_control ]] || return 1
    [[ ! $text =~ $_th_blank ]] || blank=1
    set -f
    # shellcheck disable=SC2206 # to be split
    parts=($text' ') # The blank keeps an empty part at the end.
    [[ $flags == *f* ]] || set +f
    n=${#parts[@]}
    while :; do
        part=${parts[i]}
        # State: v a value, a a value or ], k a key, o a key or }, c a colon, e a comma or the end.
        case $state$part in
        c:)
            state=v
            [[ ${#stack} -lt 2 ]] || nested+=(:)
            ;;
        e,)
            case $stack in
            *'{') state=k ;;
            *'[') state=v ;;
            *) return 1 ;;
            esac
            [[ ${#stack} -lt 2 ]] || nested+=(',')
            ;;
        *)
            _th_tokens "$part" || return 1
            for token in ${tokens[@]+"${tokens[@]}"}; do
                case $state$token in
                [va]['{[']) _th_open || return 1 ;;
                [eo]'}' | [ea]']') _th_close || return 1 ;;
                e,)
                    case $stack in
                    *'{') state=k ;;
                    *'[') state=v ;;
                    *) return 1 ;;
                    esac
                    [[ ${#stack} -lt 2 ]] || nested+=(',')
                    ;;
                c:)
                    state=v
                    [[ ${#stack} -lt 2 ]] || nested+=(:)
                    ;;
                [va]*)
                    case $token in
                    0?* | *[!0-9]*) [[ $token =~ ^(true|false|null|$_th_number)$ ]] || return 1 ;;
                    esac
                    state=e
                    case ${#stack} in
                    0) _th_kind=literal ;;
                    1) _th_values+=("$token") ;;
                    *) nested+=("$token") ;;
                    esac
                    ;;
                *) return 1 ;;
                esac
            done
            ;;
        esac
        ((++i < n)) || break
        first=$i
        # A quote behind an odd number of backslashes is part of the string.
        while :; do
            case ${parts[i]} in
            \\ | *[!\\]\\) ;;
            *\\\\) [[ ${parts[i]} =~ \\+$ && $((${#BASH_REMATCH[0]} % 2)) == 1 ]] || break ;;
            *) break ;;
            esac
            ((++i < n)) || return 1
        done
        string=${parts[first]}
        if ((i - first > 50)); then
            # Not for few: this walks there from the start of the array.
            string="${parts[*]:first:i-first+1}"
        elif ((i > first)); then
            for ((j = first + 1; j <= i; j++)); do string+="\"${parts[j]}"; done
        fi
        ((++i < n)) || return 1
        [[ ! $blank || ! $string =~ $_th_blank ]] || return 1
        [[ ! ${2-} || $string != *\\* ]] || _th_decode "$string" || return 1
        case $state${#stack} in
        [va]1) _th_values+=("\"$string\"") state=e ;;
        [va]0) _th_kind=string state=e ;;
        [va]*) nested+=("\"$string\"") state=e ;;
        [ko]1) _th_keys+=("$string") state=c ;;
        [ko]*) nested+=("\"$string\"") state=c ;;
        *) return 1 ;;
        esac
    done
    [[ $state == e && ! $stack ]]
}

# The tokens of a part between strings. Split at commas first, so that long lists of numbers are one pass as well.
_th_tokens() {
    local IFS=, flags=$- rest limit
    local -a subs
    tokens=()
    set -f
    # shellcheck disable=SC2206 # to be split
    subs=($1' ')
    [[ $flags == *f* ]] || set +f
    for rest in "${subs[@]}"; do
        case $rest in
        *[!0-9]* | '') ;;
        *)
            tokens+=("$rest" ',')
            continue
            ;;
        esac
        # Nothing but brackets: more than may nest, and slow to take one by one.
        [[ ${#rest} -lt 1000 || ! ${rest:0:200} =~ ^[][{}:]+$ ]] || return 1
        limit=300
        while [[ $rest =~ $_th_token ]]; do
            tokens+=("${BASH_REMATCH[1]}")
            rest=${BASH_REMATCH[2]}
            # More brackets than may nest.
            ((limit -= 1)) || return 1
        done
        tokens+=(',')
    done
    unset "tokens[${#tokens[@]}-1]"
}

# These two share the variables of _th_parse.
_th_open() {
    case ${#stack} in
    0) if [[ $token == '{' ]]; then _th_kind=object; else _th_kind=array; fi ;;
    *) nested+=("$token") ;;
    esac
    # Deeper than this the host takes no answer.
    [[ ${#stack} -lt 127 ]] || return 1
    stack+=$token
    if [[ $token == '{' ]]; then state=o; else state=a; fi
}

_th_close() {
    case ${stack: -1}$token in
    '{}' | '[]') ;;
    *) return 1 ;;
    esac
    stack=${stack%?} state=e
    if [[ $stack ]]; then nested+=("$token"); fi
    if ((${#stack} == 1)); then
        local IFS=''
        _th_values+=("${nested[*]}")
        nested=()
    fi
}

# Cuts a text into the array `pieces`, since Bash replaces in quadratic time: in two steps, since it copies the whole for
# each cut. Never within a character of UTF-8, an escape of JSON or a pair of them.
_th_pieces() {
    local p=0 q=0 size block=$1
    local n=${#1} m=${#1}
    pieces=()
    while ((p < n)); do
        if ((n > 65536)); then
            size=65536
            _th_cut "$1" "$p"
            block=${1:p:size} m=$size
        fi
        q=0
        while ((q < m)); do
            size=2048
            ((m - q <= size)) || _th_cut "$block" "$q"
            pieces+=("${block:q:size}")
            q=$((q + size))
        done
        p=$((p + m))
    done
}

# Makes $size larger until a piece from $2 on may end there.
_th_cut() {
    local end=${1:$2+size-16:40} more=0
    while [[ ${end:0:16+more} =~ (\\+)(u.?.?.?)?$ && $((${#BASH_REMATCH[1]} % 2)) == 1 && more -lt 6 ]]; do more=$((more + 1)); done
    [[ ! ${end:0:16+more} =~ \\u[dD][89abAB]..$ ]] || more=$((more + 6))
    # Of what is no UTF-8 at all not more than a character's length.
    for _ in 1 2 3; do
        [[ ${end:16+more:1} != [$'\200'-$'\277'] ]] || more=$((more + 1))
    done
    size=$((size + more))
}

# The inside of a JSON string as _th_text; 1 if it is none. NUL, which Bash cannot hold, becomes U+FFFD.
_th_decode() {
    _th_text=$1
    [[ $1 == *\\* ]] || return 0
    # Setting a locale takes longer than all the rest of a short text.
    [[ ${LC_ALL-} == C ]] || local LC_ALL=C
    local IFS='' piece=$1
    if ((${#1} < 2048)); then
        _th_unescape || return 1
        _th_text=$piece
        return 0
    fi
    local -a pieces out=()
    _th_pieces "$1"
    for piece in "${pieces[@]}"; do
        if [[ $piece == *\\* ]]; then _th_unescape || return 1; fi
        out+=("$piece")
    done
    _th_text="${out[*]}"
}

# Replaces the escapes in $piece of _th_decode. \377, which no UTF-8 has, is a backslash meanwhile.
_th_unescape() {
    local escape code
    piece=${piece//\\\\/$'\377'}
    piece=${piece//\\\"/\"}
    piece=${piece//\\n/$'\n'}
    piece=${piece//\\t/$'\t'}
    piece=${piece//\\r/$'\r'}
    piece=${piece//\\b/$'\b'}
    piece=${piece//\\f/$'\f'}
    piece=${piece//\\\//\/}
    # Each pair and each character once, however often it is there; the pairs first.
    while [[ $piece =~ \\u([dD][89abAB]..)\\u([dD][c-fC-F]..) ]]; do
        escape=${BASH_REMATCH[0]}
        [[ $escape =~ ^(\\u$_th_hex{4}){2}$ ]] || return 1
        _th_character $((0x10000 + ((16#${escape:2:4} - 0xd800) << 10) + 16#${escape:8:4} - 0xdc00))
        piece=${piece//"$escape"/"$_th_text"}
    done
    while [[ $piece =~ \\u$_th_hex{4} ]]; do
        escape=${BASH_REMATCH[0]} code=$((16#${BASH_REMATCH[0]:2}))
        # A backslash is one of those replaced already.
        if ((code == 92)); then _th_text=$'\377'; else _th_character "$code"; fi
        piece=${piece//"$escape"/"$_th_text"}
    done
    [[ $piece != *\\* ]] || return 1
    piece=${piece//$'\377'/\\}
}

# The UTF-8 of a code point as _th_text; of half a surrogate pair and of NUL that of U+FFFD.
_th_character() {
    local c=$1 format
    (((c > 0 && c < 0xd800) || c > 0xdfff)) || c=$((0xfffd))
    if ((c < 0x80)); then
        printf -v format '\\x%02x' "$c"
    elif ((c < 0x800)); then
        printf -v format '\\x%02x' $((0xc0 | c >> 6)) $((0x80 | c & 63))
    elif ((c < 0x10000)); then
        printf -v format '\\x%02x' $((0xe0 | c >> 12)) $((0x80 | c >> 6 & 63)) $((0x80 | c & 63))
    else
        printf -v format '\\x%02x' $((0xf0 | c >> 18)) $((0x80 | c >> 12 & 63)) $((0x80 | c >> 6 & 63)) $((0x80 | c & 63))
    fi
    # shellcheck disable=SC2059 # escapes made here
    printf -v _th_text "$format"
}

# A text as JSON, into _th_text.
_th_quote() {
    case $1 in
    '') _th_text='""' && return 0 ;;
    *[!a-zA-Z0-9\ .,:\;/_+=@%-]*) ;;
    *) _th_text="\"$1\"" && return 0 ;;
    esac
    [[ ${LC_ALL-} == C ]] || local LC_ALL=C
    local IFS='' piece
    if [[ ! $1 =~ $_th_special ]]; then
        _th_text="\"$1\""
        return 0
    fi
    local -a pieces out=()
    _th_pieces "$1"
    for piece in "${pieces[@]}"; do
        if [[ $piece =~ $_th_high && ! $piece =~ ^$_th_utf8*$ ]]; then
            _th_mend "$piece"
            piece=$_th_text
        fi
        _th_escape
        out+=("$piece")
    done
    _th_text="\"${out[*]}\""
}

# Escapes $piece of _th_quote.
_th_escape() {
    local c escape
    piece=${piece//\\/\\\\}
    piece=${piece//\"/\\\"}
    piece=${piece//$'\n'/\\n}
    piece=${piece//$'\t'/\\t}
    piece=${piece//$'\r'/\\r}
    while [[ $piece =~ [$'\1'-$'\37'] ]]; do
        c=${BASH_REMATCH[0]}
        printf -v escape '\\u%04x' "'$c"
        piece=${piece//"$c"/"$escape"}
    done
}

# A text with U+FFFD for each byte that is no UTF-8, into _th_text.
_th_mend() {
    local rest=$1 good size t=$'[\200-\277]'
    local -a out=()
    # A regular expression, made anew for each bad byte, would take a minute for a megabyte of an image.
    while [[ $rest ]]; do
        case $rest in
        [$'\1'-$'\177']*) good=${rest%%[$'\200'-$'\377']*} && size=${#good} ;;
        [$'\302'-$'\337']$t*) size=2 ;;
        $'\340'[$'\240'-$'\277']$t* | [$'\341'-$'\354\356\357']$t$t* | $'\355'[$'\200'-$'\237']$t*) size=3 ;;
        $'\360'[$'\220'-$'\277']$t$t* | [$'\361'-$'\363']$t$t$t* | $'\364'[$'\200'-$'\217']$t$t*) size=4 ;;
        *) size=0 ;;
        esac
        if ((size)); then
            out+=("${rest:0:size}")
            rest=${rest:size}
        else
            out+=($'\357\277\275')
            rest=${rest:1}
        fi
    done
    _th_text="${out[*]}"
}

# JSON as one line of good UTF-8, into _th_text, or 1 if it is no JSON.
_th_raw() {
    local LC_ALL=C IFS=$'\r\n' flags=$-
    _th_parse "$1" strict || return 1
    _th_text=$1
    # A newline that JSON allows stands between tokens.
    if [[ $1 == *[$'\r\n']* ]]; then
        local -a rows
        set -f
        # shellcheck disable=SC2206 # to be split
        rows=($1)
        [[ $flags == *f* ]] || set +f
        IFS=' '
        _th_text="${rows[*]}"
    fi
    if [[ $_th_text =~ $_th_high ]]; then
        local piece
        local -a pieces
        _th_pieces "$_th_text"
        for piece in "${pieces[@]}"; do
            [[ $piece =~ ^$_th_utf8*$ ]] || return 1
        done
    fi
}

# A JSON value as a shell has it, into _th_text: the text of a string, anything else as it is.
_th_plain() {
    case $1 in
    '"'*) _th_decode "${1:1:${#1}-2}" ;;
    *) _th_text=$1 ;;
    esac
}

_th_give() {
    case ${1-} in
    '') printf '%s\n' "$_th_text" ;;
    *[!a-zA-Z0-9_]*) _th_die "-v $1: no name of a variable" ;;
    *) printf -v "$1" %s "$_th_text" ;;
    esac
}

json_quote() {
    local _th_variable=''
    if [[ ${1-} == -v ]]; then _th_variable=$2 && shift 2; fi
    _th_quote "${1-}"
    _th_give "$_th_variable"
}

json_get() {
    local _th_variable='' _th_here _th_key _th_i _th_found
    if [[ ${1-} == -v ]]; then _th_variable=$2 && shift 2; fi
    _th_here=${1-}
    shift
    for _th_key; do
        _th_parse "$_th_here" || return 1
        _th_found=''
        if [[ $_th_kind == array ]]; then
            [[ ! $_th_key || $_th_key == *[!0-9]* ]] || _th_found=${_th_values[10#$_th_key]-}
        else
            for _th_i in ${_th_keys[@]+"${!_th_keys[@]}"}; do
                _th_decode "${_th_keys[_th_i]}" || return 1
                if [[ $_th_text == "$_th_key" ]]; then _th_found=${_th_values[_th_i]}; fi
            done
        fi
        [[ $_th_found && $_th_found != null ]] || return 1
        _th_here=$_th_found
    done
    _th_plain "$_th_here" || return 1
    _th_give "$_th_variable"
}

arg_list() {
    case ${2-} in
    '' | [0-9]* | *[!a-zA-Z0-9_]*) _th_die "arg_list NAME ARRAY: '${2-}' is no name of an array" ;;
    esac
    [[ ${args[$1]+set} ]] && _th_parse "${args[$1]}" && [[ $_th_kind == array ]] || return 1
    local LC_ALL=C _th_value
    local -a _th_list=()
    for _th_value in ${_th_values[@]+"${_th_values[@]}"}; do
        _th_plain "$_th_value"
        _th_list+=("$_th_text")
    done
    eval "$2=(\${_th_list[@]+\"\${_th_list[@]}\"})"
}

# ---- Answers, in the subshell of a call ------------------------------------------------------------------------------

# Through a file, not a pipe: nothing waits for a background job, and no fork is needed. The first answer counts.
_th_reply() {
    if [[ ! $_th_answer ]]; then
        _th_die "an answer outside of a tool: $1"
    elif [[ -s $_th_answer ]]; then
        printf 'answered already, this is dropped: %.200s\n' "$1" >&2
    else
        printf '%s\n' "$1" >|"$_th_answer" || exit
    fi
}

reply() {
    local IFS=' '
    _th_quote "$*"
    _th_reply "\"result\":$_th_text"
}

reply_json() {
    local json=${1-}
    _th_raw "$json" || fail ValueError "the tool answered what is no JSON: ${json:0:200}"
    _th_reply "\"result\":$_th_text"
}

reply_lines() {
    local IFS=, line
    local -a out=()
    if (($# == 0)); then
        mapfile -t out
        set -- ${out[@]+"${out[@]}"}
        out=()
    fi
    local LC_ALL=C
    for line; do
        _th_quote "$line"
        out+=("$_th_text")
    done
    _th_reply "\"result\":[${out[*]-}]"
}

reply_object() {
    local IFS=, member key value
    local -a out=()
    for member; do
        [[ $member =~ ^([^=]*)= ]] || fail ValueError "reply_object takes key=text and key:=json, not '${member:0:200}'"
        key=${BASH_REMATCH[1]} value=${member:${#BASH_REMATCH[0]}}
        if [[ $key == *: ]]; then
            _th_raw "$value" || fail ValueError "the tool answered what is no JSON in '${key%:}': ${value:0:200}"
            value=$_th_text key=${key%:}
        else
            _th_quote "$value"
            value=$_th_text
        fi
        _th_quote "$key"
        out+=("$_th_text:$value")
    done
    _th_reply "\"result\":{${out[*]-}}"
}

fail() {
    local IFS=' '
    case $# in
    0 | 1) _th_quote "Error: ${1-}" ;;
    *) _th_quote "$1: ${*:2}" ;;
    esac
    _th_reply "\"error\":$_th_text"
    exit 1
}

# ---- Declarations ----------------------------------------------------------------------------------------------------

toolbox() {
    _th_quote "${1-}"
    _th_head="\"description\":$_th_text,"
    shift
    while (($#)); do
        case $1 in
        --version)
            _th_quote "${2-}"
            _th_head+="\"version\":$_th_text,"
            shift
            ;;
        --context) _th_head+='"capabilities":["context"],' ;;
        *) _th_die "toolbox: what is '$1'?" ;;
        esac
        shift
    done
}

# JSON written by the author, into _th_text.
_th_own() {
    _th_raw "$2" || _th_die "tool $name: $1 is no JSON: $2"
}

# A value of a parameter of type $1: texts need no quotes.
_th_typed() {
    case $1 in
    string) _th_quote "$2" ;;
    *) _th_own "a value of type $1" "$2" ;;
    esac
}

# The values of `enum` and `examples`.
_th_choices() {
    local IFS=, flags=$- one
    local -a values out=()
    if [[ $2 == '['* ]]; then
        _th_own enum "$2"
        return
    fi
    set -f
    # shellcheck disable=SC2206 # to be split
    values=($2)
    [[ $flags == *f* ]] || set +f
    for one in ${values[@]+"${values[@]}"}; do
        _th_typed "$1" "$one"
        out+=("$_th_text")
    done
    _th_text="[${out[*]-}]"
}

tool() {
    local name=${1-} function=${1-} fields='' hints='' parameters='' parameter='' described='' type='' word schema=''
    [[ $name && ${2+set} ]] || _th_die 'tool NAME "DESCRIPTION" [name:type "Description"]...'
    _th_quote "$name" && fields="\"name\":$_th_text"
    _th_quote "$2" && fields+=",\"description\":$_th_text"
    shift 2
    while (($#)); do
        word=$1
        shift
        case $word in
        --timeout | --title | --category | --version)
            _th_quote "${1-}"
            fields+=",\"${word#--}\":$_th_text"
            shift
            ;;
        --read-only) hints+=,\"readOnly\":true ;;
        --destructive | --idempotent) hints+=",\"${word#--}\":true" ;;
        --open-world) hints+=,\"openWorld\":true ;;
        --schema | --output)
            _th_own "$word" "${1-}"
            if [[ $word == --schema ]]; then schema=$_th_text; else fields+=",\"output_schema\":$_th_text"; fi
            shift
            ;;
        --run)
            function=${1-}
            shift
            ;;
        --*) _th_die "tool $name: what is '$word'?" ;;
        *) _th_parameter ;;
        esac
    done
    if [[ $schema ]]; then
        [[ ! $parameters$parameter ]] || _th_die "tool $name: --schema is instead of parameters"
        fields+=",\"argument_schema\":$schema"
    else
        parameters+=${parameter:+,$parameter\}}
        fields+=",\"parameters\":[${parameters#,}]"
    fi
    [[ ! $hints ]] || fields+=",\"hints\":{${hints#,}}"
    _th_known "$function"
    _th_functions["t:$name"]=$function
    _th_tools+=",{$fields}"
}

# One word of the parameters, with the variables of `tool`.
_th_parameter() {
    local base='^([A-Za-z_][A-Za-z0-9_-]*):(string|integer|number|boolean|object|array)(\[\])?(!|=(.*))?$'
    local field='^(minimum|maximum|minLength|maxLength|pattern|format|enum|examples|items|metadata)=(.*)$'
    if [[ $word =~ $base ]]; then
        local -a found=("${BASH_REMATCH[@]}")
        parameters+=${parameter:+,$parameter\}}
        type=${found[2]} described='' parameter="{\"name\":\"${found[1]}\",\"type\":\"$type\""
        if [[ ${found[3]} ]]; then
            parameter="{\"name\":\"${found[1]}\",\"type\":\"array\",\"items\":\"$type\"" type=array
        fi
        _th_types["$name:${found[1]}"]=$type
        if [[ ${found[4]} == '!' ]]; then
            parameter+=,\"required\":true
        elif [[ ${found[4]} ]]; then
            _th_typed "$type" "${found[5]}"
            parameter+=",\"default\":$_th_text"
        fi
    elif [[ ! $parameter ]]; then
        _th_die "tool $name: what is '$word'? A parameter is name:type, with a type of string, integer, number, boolean, object, array"
    elif [[ $word =~ $field ]]; then
        local key=${BASH_REMATCH[1]} value=${BASH_REMATCH[2]}
        case $key in
        pattern | format) _th_quote "$value" ;;
        enum | examples) _th_choices "$type" "$value" ;;
        items) case $value in
            '{'* | true | false) _th_own items "$value" ;;
            *) _th_quote "$value" ;;
            esac ;;
        *) _th_own "$key" "$value" ;;
        esac
        parameter+=",\"$key\":$_th_text"
    elif [[ $described || $word =~ ^[A-Za-z_][A-Za-z0-9_-]*:[^\ ]+$ ]]; then
        _th_die "tool $name: what is '$word'? It is neither a parameter (name:type), a field of one, nor its description"
    else
        _th_quote "$word"
        parameter+=",\"description\":$_th_text" described=yes
    fi
}

# What is used here must stay what it is.
_th_known() {
    case $1 in
    printf | read | exec | exit | local | set | shift | declare | mapfile | unset | eval | trap | return | mktemp | rm | tool | toolbox | \
        serve | reply | reply_* | fail | arg_list | json_* | _th_*)
        _th_die "a function '$1' would stand in the way of this name's own meaning; call it otherwise: tool NAME \"...\" --run FUNCTION"
        ;;
    esac
}

# ---- The loop --------------------------------------------------------------------------------------------------------

serve() {
    local _th_line _th_name
    for _th_name in ${_th_functions[@]+"${!_th_functions[@]}"}; do
        declare -F "${_th_functions[$_th_name]}" >/dev/null ||
            _th_die "tool ${_th_name#t:}: there is no function '${_th_functions[$_th_name]}'; write it above 'serve', or name one with --run"
    done
    [[ ! -t $_th_in ]] || printf 'A toolbox: it reads requests, a line each. To try it: toolhost check -- %s\n' "$0" >&2
    _th_flags=$- _th_locale=${LC_ALL-} _th_localized=${LC_ALL+set}
    set +eufx
    trap '_th_end; exit 143' TERM INT HUP
    LC_ALL=C
    while IFS= read -r -u "$_th_in" _th_line || [[ $_th_line ]]; do
        # Not ${_th_line#...}: it tries every length.
        [[ $_th_line != $'\357\273\277'* ]] || _th_line=${_th_line:3}
        _th_request "$_th_line"
    done
    _th_end
    exit 0
}

_th_send() {
    printf '{"id":%s,%s}\n' "$1" "$2" >&"$_th_out"
}

# shellcheck disable=SC2034 # `config` and `context` are for the tools
_th_request() {
    local _th_id='' _th_op='' _th_name='' _th_i
    [[ $1 == *[!$' \t\r\n']* ]] || return
    # As the host writes a call. Whatever else the line may be is found out by the whole parser.
    if [[ $1 =~ $_th_usual ]]; then
        _th_id=${BASH_REMATCH[1]} _th_name=${BASH_REMATCH[2]} kwargs=${1:${#BASH_REMATCH[0]}}
        kwargs=${kwargs:0:${#kwargs}-1}
        if [[ $1 == *'}' ]] && _th_parse "$kwargs" && [[ $_th_kind == object ]]; then
            context='{}'
            _th_call
            return
        fi
        _th_id='' _th_name=''
    fi
    if ! _th_parse "$1" || [[ $_th_kind != object ]]; then
        printf 'no request: %.200s\n' "$1" >&2
        _th_send null '"error":"ProtocolError: the line is no JSON object, or nests too deeply"'
        return
    fi
    kwargs='{}' context='{}'
    for _th_i in "${!_th_keys[@]}"; do
        case ${_th_keys[_th_i]} in
        id) _th_id=${_th_values[_th_i]} ;;
        op) _th_plain "${_th_values[_th_i]}" && _th_op=$_th_text ;;
        name) _th_plain "${_th_values[_th_i]}" && _th_name=$_th_text ;;
        kwargs) kwargs=${_th_values[_th_i]} ;;
        context) context=${_th_values[_th_i]} ;;
        config) config=${_th_values[_th_i]} ;;
        esac
    done
    [[ $_th_id ]] || return
    case $_th_op in
    describe) _th_send "$_th_id" "\"result\":{\"protocol\":1,$_th_head\"tools\":[${_th_tools#,}]}" ;;
    call)
        _th_parse "$kwargs"
        _th_call
        ;;
    *)
        _th_quote "Unknown op: '$_th_op'"
        _th_send "$_th_id" "\"error\":$_th_text"
        ;;
    esac
}

# The call of $_th_name with what was parsed last.
_th_call() {
    local _th_status _th_output _th_said
    if [[ ! ${_th_functions["t:$_th_name"]+set} ]]; then
        _th_quote "Unknown tool: '$_th_name'"
        _th_send "$_th_id" "\"error\":$_th_text"
        return
    fi
    # Whoever clears /tmp or ends a login session takes the folder away.
    [[ $_th_folder && -d $_th_folder ]] || _th_begin || {
        _th_send "$_th_id" '"error":"OSError: no folder for temporary files; set TMPDIR to one that can be written"'
        return
    }
    # Names of its own, so that a background job that lives on writes into nothing that is still read.
    _th_calls=$((_th_calls + 1)) _th_answer=$_th_folder/answer.$_th_calls _th_output=$_th_folder/output.$_th_calls
    printf '\n%s start\n' "$_th_mark" >&"$_th_log"
    # Appended, so that a child that opens /dev/stdout does not write over what is there.
    (_th_body) >>"$_th_output" 2>&"$_th_log"
    _th_status=$?
    _th_printed "$_th_output"
    if [[ ! -e $_th_output ]]; then
        _th_said='"error":"OSError: the folder for temporary files was removed during the call"'
    elif [[ -s $_th_answer ]]; then
        IFS= read -r _th_said <"$_th_answer"
        [[ ! $_th_text ]] || printf '%s\n' "$_th_text" >&"$_th_log"
    elif ((_th_status)); then
        _th_said=$_th_text
        _th_failed "$_th_status"
        [[ ! $_th_said ]] || printf '%s\n' "$_th_said" >&"$_th_log"
        _th_said="\"error\":$_th_text"
    elif [[ $_th_text ]]; then
        _th_quote "$_th_text"
        _th_said="\"result\":$_th_text"
    else
        _th_said='"result":null'
    fi
    _th_send "$_th_id" "$_th_said"
    # Emptied, which needs no fork: the folder may be in memory.
    [[ ! -s $_th_output ]] || : >|"$_th_output"
    [[ ! -s $_th_answer ]] || : >|"$_th_answer"
    ((_th_calls % 64)) || rm -f "$_th_folder"/*
    _th_answer=''
}

# What the tool printed, without the newlines at the end, into _th_text.
_th_printed() {
    local IFS='' bare
    local -a rows=()
    _th_text=''
    [[ -s $1 ]] || return
    # Every row ends with a newline then, unless there is a NUL in it, at which Bash ends a text.
    printf '\n' >>"$1"
    mapfile rows <"$1"
    _th_text="${rows[*]-}" bare="${rows[*]%$'\n'}"
    if ((${#_th_text} - ${#bare} != ${#rows[@]})); then
        # No UTF-8, so that it becomes U+FFFD.
        mapfile rows < <(tr '\0' '\377' <"$1")
        _th_text="${rows[*]-}"
    fi
    if [[ $_th_text =~ $'\n'+$ ]]; then _th_text=${_th_text:0:${#_th_text}-${#BASH_REMATCH[0]}}; fi
}

# The tool itself, in its subshell.
_th_body() {
    local _th_i _th_value
    exec {_th_in}<&- {_th_out}>&- {_th_log}>&- {_th_tail}<&-
    trap - TERM INT HUP
    local -a _th_names=(${_th_keys[@]+"${_th_keys[@]}"})
    for _th_i in ${_th_names[@]+"${!_th_names[@]}"}; do
        _th_value=${_th_values[_th_i]}
        _th_decode "${_th_names[_th_i]}" || continue
        # Bash has no element without a name.
        [[ $_th_text && $_th_value != null ]] || continue
        _th_names[_th_i]=$_th_text
        _th_plain "$_th_value" || fail ValueError "'${_th_names[_th_i]}' is a broken string"
        _th_number_of "${_th_types["$_th_name:${_th_names[_th_i]}"]-}" "${_th_names[_th_i]}" "$_th_value"
        args["${_th_names[_th_i]}"]=$_th_text
    done
    if [[ $_th_localized ]]; then LC_ALL=$_th_locale; else unset LC_ALL; fi
    case $_th_flags in *f*) set -f ;; esac
    case $_th_flags in *u*) set -u ;; esac
    case $_th_flags in *x*) set -x ;; esac
    case $_th_flags in *e*) set -e ;; esac
    "${_th_functions["t:$_th_name"]}"
}

# Numbers that Bash can count with, in _th_text: JSON has 5.0 and 1e2 for integers as well. The host has checked the type;
# this makes sure that ((...)) meets a number also where there was no host.
_th_number_of() {
    case $1 in integer | number) ;; *) return ;; esac
    [[ $3 =~ ^$_th_number$ ]] || fail TypeError "'$2' is no $1"
    if [[ $1 == integer && $3 == *[.eE]* ]]; then
        printf -v _th_text %.0f "$3" 2>/dev/null
        [[ $_th_text =~ ^-?[0-9]{1,18}$ ]] || fail ValueError "'$2' is too large"
    fi
}

# The text of an error for a tool that ended with this status, as JSON.
_th_failed() {
    local what="exit status $1" signal line lines=''
    if (($1 > 128)) && signal=$(kill -l $(($1 - 128)) 2>/dev/null); then what="signal $(($1 - 128)) (SIG$signal)"; fi
    printf '\n%s tail\n' "$_th_mark" >&"$_th_log"
    while IFS= read -r -t 5 -u "$_th_tail" line && [[ $line != "$_th_mark" ]]; do
        lines+=${line:+$'\n'$line}
    done
    _th_quote "CommandError: $what${lines:+: ${lines#?}}"
}

# The folder, and the process through which the tools' stderr goes to the log: it alone can keep the last lines for an
# error, show them at once, and outlive a call for its background jobs. Both on the first call only, as a rule.
_th_begin() {
    local base
    _th_folder=''
    for base in "${TMPDIR-}" "${XDG_RUNTIME_DIR-}" /dev/shm /tmp; do
        [[ -d $base && -w $base ]] && _th_folder=$(mktemp -d "$base/toolhost.XXXXXX" 2>/dev/null) && break
    done
    [[ $_th_folder ]] || return 1
    [[ ! $_th_log ]] || return 0
    _th_mark=$'\1'$RANDOM$RANDOM$$
    coproc _th_pump { _th_watch; }
    # shellcheck disable=SC2154 # set by coproc
    exec {_th_tail}<&"${_th_pump[0]}" {_th_log}>&"${_th_pump[1]}"
}

_th_watch() {
    local line a='' b='' c=''
    exec {_th_in}<&- {_th_out}>&-
    trap '' TERM INT HUP # Ends when the last writer does.
    while IFS= read -r line || [[ $line ]]; do
        case $line in
        "$_th_mark start") a='' b='' c='' ;;
        "$_th_mark tail") printf '%s\n' "$a" "$b" "$c" "$_th_mark" ;;
        *[![:space:]]*)
            printf '%s\n' "$line" >&2
            a=$b b=$c c=${line:0:300}
            ;;
        esac
    done
}

_th_end() {
    [[ $_th_log ]] || return
    # What was said last is in the log before this process is gone.
    printf '\n%s tail\n' "$_th_mark" >&"$_th_log"
    local row
    while IFS= read -r -t 1 -u "$_th_tail" row && [[ $row != "$_th_mark" ]]; do :; done
    rm -rf "$_th_folder"
    _th_folder=''
}
