#!/bin/sh
# Checks on a Mac what the tests of this package cannot: that the two scripts fit the
# dictionaries of Shortcuts Events and Shortcuts. It changes nothing.
#
# First make three shortcuts by hand, in the Shortcuts app, in a folder "Aster Test":
#   Aster "Echo"   one action: Stop and Output, with the Shortcut Input
#   Aster List     Text actions "one" and "two", then a List of both, Stop and Output
#   Aster Picture  Take Screenshot, Stop and Output
# Then run:  sh shortcuts/testdata/check-on-a-mac.sh
# The first time macOS asks whether the terminal may control Shortcuts: allow it.
#
# Expected, in this order ("|" stands where the scripts print their mark):
#   list      among others a row  s|ID|Aster "Echo"|true|1  and a row  f|Aster Test|ID|ID|ID
#   echo      text|-a "quoted" $(text) 👋
#   list run  list|2  text|one  text|two
#   picture   data|… or file|/…, and a PNG or TIFF of some kilobytes where it says data
#   unknown   an error that ends in (-1728)
# Please report what differs, with the version of macOS (printed last).
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
mark=MARKMARKMARK
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

show() { sed -e "s/${mark}f/|/g" -e "s/${mark}r/  /g" -e "s/${mark}e/ (end)/g"; }
list() { osascript -e "$(cat "$here/list.applescript")" -- "$mark"; }
run() { osascript -e "$(cat "$here/run.applescript")" -- "$mark" "$1" "$2" "$3" 60 "$dir/data"; }
id_of() { list | awk -v RS="${mark}r" -v FS="${mark}f" -v name="$1" '$1 == "s" && $3 == name { print $2; exit }'; }

echo "== list"
list | show | tr '\n' ' ' | fold -w 200 | head -40
echo; echo "== echo"
run "$(id_of 'Aster "Echo"')" text '-a "quoted" $(text) 👋' | show
echo "== list run"
run "$(id_of 'Aster List')" none '' | show
echo "== picture"
run "$(id_of 'Aster Picture')" none '' | show
[ -f "$dir/data" ] && file "$dir/data"
echo "== unknown"
run 00000000-0000-4000-8000-000000000000 none ''
echo "== the command line tool"
shortcuts list --show-identifiers | head -3
shortcuts list --folders | head -3
sw_vers
