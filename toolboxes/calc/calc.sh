#!/usr/bin/env bash
# Arithmetic by qalc and units: one command each, declared as tools in toolhost.yaml beside this file.
#
#   calc.sh evaluate -- EXPRESSION
#   calc.sh base -- NUMBER FROM TO
#   calc.sh convert -- AMOUNT FROM TO
#   calc.sh factorize -- NUMBER
#
# Prints a JSON object; what it cannot do ends it with status 1 and a sentence for the caller. qalc and units guess where they do not understand (to qalc, `foo + 1` is 1), and qalc can read
# and write files and start programs. So only words known here reach qalc, and what it complains about is an error.
set -euo pipefail

# No settings, units or history of a user: the same question has the same answer everywhere.
export HOME=/nonexistent LC_ALL=C.UTF-8 LANGUAGE=en
unset UNITSFILE MYUNITSFILE UNITS_ENGLISH UNITS_SYSTEM

functions='abs sqrt cbrt root exp ln log log2 log10 sin cos tan asin acos atan atan2 arcsin arccos arctan sinh cosh tanh
  asinh acosh atanh floor ceil round trunc frac sgn min max mean median mode stdev var sum product total gcd lcm mod rem
  factorial comb perm binomial isprime nextprime prevprime fibonacci erf gamma zeta
  solve diff integrate limit re im conj arg cross dot det inv transpose bitcmp'
words='pi e i x y z n a b c k t infinity percent to and or xor not true false
  hex hexadecimal bin binary oct octal dec decimal fraction roman factors base'
units='m meter meters km kilometer kilometers dm cm mm mi mile miles yd yard yards ft foot feet in inch inches
  g gram grams kg kilogram kilograms mg t lb pound pounds oz ounce ounces ha acre acres
  l L liter liters dl cl ml gallon gallons pint pints cup cups C F celsius fahrenheit
  s ms sec min minute minutes h hour hours d day days week weeks month months year years mph knot knots
  N J kJ cal kcal W kW Wh kWh V A Hz kHz MHz GHz Pa kPa bar psi atm K
  deg degree degrees rad radian radians bit bits byte bytes kB MB GB TB KiB MiB GiB TiB'

fail() { printf '%s\n' "$*" >&2; exit 1; }

json() { sed -e 's/[\\"]/\\&/g' -e 's/.*/"&"/'; }

# An expression as it is said, in signs: `15 percent of 80` is 15% * 80. Whole words only, and no part of it is run; what
# is left then has to pass the check like any other expression.
in_signs() {
  local number='[0-9]+(\.[0-9]+)?' unit
  unit=$(printf '%s' "$units" | tr -s ' \n' '|')
  printf '%s' "${1//$'\n'/ }" | sed -E \
    -e "s/^ *(what is|what's|how much is|calculate) +//I; s/ *[?] *\$//" \
    -e "s/\b(the +)?square +root +of +($number|[a-z]\b|\()/sqrt \2/Ig; s/\b(the +)?cube +root +of +($number|[a-z]\b|\()/cbrt \2/Ig" \
    -e "s/\b(sqrt|cbrt) +($number|[a-z]\b)/\1(\2)/Ig; s/\b(sqrt|cbrt) +\(/\1(/Ig" \
    -e 's/ *\bper ?cent\b/%/Ig; s/% +of\b/% */Ig; s/\bhalf +of\b/0.5 */Ig' \
    -e 's/\bmultiplied +by\b|\btimes\b/*/Ig; s/\bdivided +by\b/\//Ig; s/\bplus\b/+/Ig; s/\bminus\b/-/Ig' \
    -e 's/ *\b(raised +)?to +the +power +(of )?/^/Ig; s/ +squared\b/^2/Ig; s/ +cubed\b/^3/Ig' \
    -e ':x s/([0-9]) +x +([0-9])/\1 * \2/I; tx' \
    -e "s/^ *(-?$number) *°?([CF])( +(to|in) +)°?([CF]) *\$/\1 °\3\4°\6/" \
    -e "s/ (to|in) +(($unit)\b[^+]*)\$/ to -\2/" # the dash: 30 days to weeks is a number of weeks, without days
}

# The parts of an expression that are words, one a line. 2e5 and 0xFF are numbers.
names() {
  printf '%s\n' "$1" | sed -E 's/(^|[^A-Za-z])(0x[0-9A-Fa-f]+|0b[01]+|0o[0-7]+)/\1 /g; s/([0-9.])[eE]([+-]?[0-9])/\1 \2/g' |
    grep -oE '[[:alpha:]][A-Za-z]*(2|10)?' || true
}

check() {
  # Quotes, \, :=, # and $ would open the rest of qalc: texts, files, definitions.
  local odd
  odd=$(printf '%s' "$1" | tr '\n' '$' | sed -E 's/[]A-Za-z0-9 .,;()[+*\/^!%=<>|&~°√π×÷·−²³-]//g')
  [[ -z $odd ]] || fail "this has no place in an expression: ${odd:0:20}"
  local name
  while read -r name; do
    [[ " ${functions//$'\n'/ } ${words//$'\n'/ } ${units//$'\n'/ } " == *" $name "* ]] ||
      fail "unknown word: '${name:0:40}'; write it in digits and signs, as in 15% * 80, 12 * 7, sqrt(2), log10(100), 5 km + 300 m or x^2 = 4"
  done < <(names "${1//[√π]/ }")
}

qalc() {
  command qalc -nocurrencies -nodatasets -m 4000 -s 'limit implicit multiplication on' -s 'unknowns off' \
    -s 'precision 15' -s 'exp off' -s 'group off' -s 'uni off' -s 'color off' -s 'twos off' -s 'hextwos off' \
    -s 'decimal comma off' "$@" < /dev/null
}

# Sets told (with the way there, and complaints) and result.
ask() {
  told=$(qalc "$@")
  local complaint
  complaint=$(printf '%s\n' "$told" | sed -nE 's/^ *(error|warning): //p' | head -n 3 | paste -sd ' ')
  [[ -z $complaint ]] || fail "this cannot be calculated: $complaint"
  [[ $told != *aborted* ]] || fail 'this takes too long to calculate'
  result=$(qalc -t "$@" | sed -E 's/\bo([CF])\b/°\1/g') # what is left of ° without Unicode
}

# What to say of a result: six digits of a fraction, and cents always, are enough.
short() {
  awk '{
    while (match($0, /[0-9]+\.[0-9]+/)) {
      number = substr($0, RSTART, RLENGTH)
      whole = number; sub(/\..*/, "", whole)
      zeros = number; sub(/^0\./, "", zeros); sub(/[1-9].*/, "", zeros)
      digits = whole > 0 ? 6 - length(whole) : 6 + length(zeros)
      if (length(whole) < 15) number = sprintf("%.*f", digits < 2 ? 2 : digits, number)
      if (number ~ /\./) sub(/\.?0+$/, "", number)
      out = out substr($0, 1, RSTART - 1) number
      $0 = substr($0, RSTART + RLENGTH)
    }
    print out $0
  }'
}

evaluate() {
  local expression
  expression=$(in_signs "$1")
  [[ $expression == *[![:space:]]* ]] || fail 'the expression is empty'
  check "$expression"
  ask -- "$expression"
  case $result in
    *undefined* | */0 | *'/0 '* | *infinity*) fail "this has no value: $result" ;;
    *aborted* | *'timed out'*) fail 'this takes too long to calculate' ;;
    '['*) [[ $expression == *'['* || $expression == *solve* ]] ||
      fail 'a comma separates the arguments of a function: write 1000, or 0.5, without one' ;;
  esac
  ((${#result} <= 5000)) || fail "the result has ${#result} characters, which is too long to return"
  # What qalc shows as a vector, with two blanks between its items.
  if [[ $result == '['*'  '*']' && $expression != *'['* ]]; then
    result=${result#'['} result=${result%']'} result=${result//'  '/ or }
  fi
  result=${result//'  '/, }
  local exact=true
  [[ $told != *approx.* ]] || exact=false
  printf '{"result": %s, "text": %s, "exact": %s}\n' "$(printf '%s' "$result" | json)" \
    "$(printf '%s' "$result" | short | json)" "$exact"
}

base() {
  local number=${1^^} from=$2 to=$3 digits=0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ prefix
  # A prefix says the base, where it is no digit of the one named.
  for prefix in 16:0X 8:0O 2:0B; do
    [[ $from == 10 || $from == "${prefix%:*}" ]] || continue
    [[ $number =~ ^(-?)"${prefix#*:}"(.+)$ ]] || continue
    number=${BASH_REMATCH[1]}${BASH_REMATCH[2]} from=${prefix%:*}
  done
  local known=${digits:0:from}
  number=${number%.0} # a whole number in JSON too
  [[ $number =~ ^-?[$known]+$ ]] || fail "this is no whole number in base $from: '${1:0:40}' (its digits are $known)"
  ask -b "$to $from" -s 'base display none' -- "$number"
  printf '{"result": %s}\n' "$(printf '%s' "${result// /}" | json)"
}

# What units would not know, or take for something else: to it h is Planck's constant, degC a difference of temperatures,
# kmph a thousand miles an hour. Temperatures are functions there.
unit() {
  case ${1,,} in
    c | °c | celsius | 'degrees celsius' | degc | tempc) echo tempC ;;
    f | °f | fahrenheit | 'degrees fahrenheit' | degf | tempf) echo tempF ;;
    k | kelvin | tempk) echo K ;;
    h) echo hour ;;
    *)
      printf '%s\n' "$1" | sed -E -e 's#\b(km/h|kmh|kmph|kph)\b#km/hour#g' -e 's#(/| per ) *h\b#/hour#g' \
        -e 's#\b(fl\.? ?oz|fluid ?ounces?)\b#floz#Ig' -e 's#\bKB\b#kB#g' -e 's#²#^2#g; s#³#^3#g' -e 's#/ *100 *km\b#/(100 km)#' \
        -e 's#\b(square|sq\.?) ?([A-Za-z]+)#\2^2#g' -e 's#\bcubic ([A-Za-z]+)#\1^3#g'
      ;;
  esac
}

units() { command units -t -H '' -o %.12g -- "$@" < /dev/null; }

convert() {
  local amount=$1 from to have name
  from=$(unit "$2") to=$(unit "$3")
  if [[ $from == temp? ]]; then have="$from($amount)"; else have="($amount) ($from)"; fi
  for name in "$from" "$to"; do
    [[ $name != temp? ]] || continue
    units "$name" > /dev/null || fail "unknown unit: '$name'"
    # Its rates are as old as its installation.
    ! units "$name" euro > /dev/null || fail 'money is not converted: there are no exchange rates offline'
  done
  # Fuel: the more miles a gallon, the fewer liters.
  if [[ "$from $to" == *'(100 km)'* ]] && ! units "$have" "$to" > /dev/null; then have="1 / ($have)"; fi
  if ! result=$(units "$have" "$to"); then
    # To units that is a conformability error, and then both sides in SI units.
    [[ $result != conformability* ]] || fail "'$2' cannot be converted to '$3': they measure different things"
    fail "this cannot be converted from '$2' to '$3': $(printf '%s' "$result" | head -n 1)"
  fi
  [[ $result =~ ^-?[0-9.]+(e[+-]?[0-9]+)?$ ]] || fail "the result is no number: $result"
  local name=${3//$'\n'/ }
  printf '{"result": %s, "unit": %s, "text": %s}\n' "$result" "$(printf '%s' "$name" | json)" \
    "$(printf '%s %s' "$result" "$name" | short | json)"
}

factorize() {
  local factors
  local number=$1
  # JSON may write a whole number as 1e2 or 100.0.
  if [[ $number == *[.eE]* ]]; then
    printf -v number '%.0f' "$number"
    ((${#number} <= 15)) || fail 'the number is too long for its exponent: write it in digits'
  fi
  factors=$(factor -- "$number" | sed -e 's/^[^:]*: *//' -e 's/ /, /g')
  printf '{"factors": [%s]}\n' "$factors"
}

verb=$1
shift 2
"$verb" "$@"
