#!/bin/sh
# Checks on a Mac what the tests of this package cannot: that the two scripts fit the
# dictionaries of Shortcuts Events and Shortcuts. It changes nothing.
#
# First make these shortcuts by hand, in the Shortcuts app, in a folder "Aster Test"; each
# ends with Stop and Output:
#   Aster "Echo"   outputs the Shortcut Input
#   Aster List     Text "one", Text "two", a List of both; outputs the List
#   Aster Number   Number 1.5; outputs it
#   Aster Date     Date, Current Date; outputs it
#   Aster Dict     Dictionary with a key "a" and the text "b"; outputs it
#   Aster Picture  Take Screenshot; outputs it
#   Aster Nothing  Nothing; no Stop and Output
# Then run:  sh shortcuts/testdata/check-on-a-mac.sh
# macOS asks twice whether the terminal may control Shortcuts (Events): allow it.
#
# Expected, in this order ("|" stands between fields, ";" between rows). A single value may
# also come as a list of one: list|1;text|...
#   list      5 rows ids|..., names|..., inputs|true|..., counts|1|... and again|... of the
#             same length, ids and again the same; and a row folder|Aster Test|ID|...
#   seconds   how long that took: a few, also with hundreds of shortcuts
#   echo      text|-a "quoted" $(text) 👋
#   file      file|/... or text|one line, the name or the text of that file
#   list run  list|2;text|one;text|two
#   number    number|1.5, or with a comma where your language writes it so
#   date      text|2026-01-31T12:00:00, or text| with a date in your language
#   dict      text|{"a":"b"} or other|record
#   picture   data|... or file|/..., then what kind: PNG, TIFF or HEIC, and its conversion
#   nothing   an error that ends in (-2763) or (-2753), or none|
#   unknown   an error that ends in (-1728)
#   tool      lines "Name (ID)", names of folders, and lines "Name (ID)" of that folder
# Please report what differs, with the version of macOS (printed last).
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
mark=MARKMARKMARK
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

show() { sed -e "s/${mark}f/|/g" -e "s/${mark}r/;/g" -e "s/${mark}e/ (end)/g"; }
list() { osascript -e "$(cat "$here/list.applescript")" -- "$mark"; }
run() { osascript -e "$(cat "$here/run.applescript")" -- "$mark" "$1" "$2" "$3" 60 "$dir/data"; }
# Line n of the ids belongs to line n of the names.
column() { printf '%s\n' "$all" | sed -e "s/${mark}r/;\\
/g" | sed -n "s/;\$//; s/^$1${mark}f//p" | sed -e "s/${mark}f/\\
/g"; }
id_of() {
	n=$(column names | grep -n -x -F -- "$1" | head -1 | cut -d: -f1)
	[ -n "$n" ] && column ids | sed -n "${n}p"
}
try() { # HEADING NAME KIND INPUT
	echo "== $1"
	id=$(id_of "$2")
	if [ -z "$id" ]; then echo "there is no shortcut $2"; else run "$id" "$3" "$4" 2>&1 | show; fi
}

echo "== list"
start=$(date +%s)
all=$(list)
printf '%s\n' "$all" | show | tr ';' '\n' | cut -c1-300
echo "== seconds: $(($(date +%s) - start))"
try echo 'Aster "Echo"' text '-a "quoted" $(text) 👋'
echo 'one line' >"$dir/in -put.txt"
try file 'Aster "Echo"' file "$dir/in -put.txt"
try 'list run' 'Aster List' none ''
try number 'Aster Number' none ''
try date 'Aster Date' none ''
try dict 'Aster Dict' none ''
try picture 'Aster Picture' none ''
for f in "$dir"/data*; do
	[ -f "$f" ] && file "$f" && sips -s format png "$f" --out "$dir/picture.png" && file "$dir/picture.png"
done
try nothing 'Aster Nothing' none ''
echo "== unknown"
run 00000000-0000-4000-8000-000000000000 none ''
echo "== tool"
shortcuts list --show-identifiers | head -3
shortcuts list --folders | head -3
shortcuts list --show-identifiers --folder-name='Aster Test' | head -3
sw_vers
