-- Lists all shortcuts. Argument: a mark, before "f" between fields, "r" between rows and
-- "e" at the end. Rows: "ids", "names", "inputs" and "counts" with a field for each
-- shortcut, "again" with the ids as they are after that, and for each folder "folder" with
-- its name and ids. Whole columns are joined: a loop over the items takes a list of
-- thousands minutes.
on joined(theItems, theMark)
	set saved to AppleScript's text item delimiters
	set AppleScript's text item delimiters to theMark
	set theText to theItems as text
	set AppleScript's text item delimiters to saved
	return theText
end joined

on run argv
	set theMark to item 1 of argv
	set theRows to {}
	with timeout of 60 seconds
		tell application "Shortcuts Events"
			set theIDs to id of every shortcut
			set theNames to name of every shortcut
			set theInputs to accepts input of every shortcut
			set theCounts to action count of every shortcut
			set theFolders to {}
			repeat with f in (get every folder)
				set end of theFolders to {name of f, id of every shortcut of f}
			end repeat
			set idsAgain to id of every shortcut
		end tell
	end timeout
	set end of theRows to my joined({"ids"} & theIDs, theMark & "f")
	set end of theRows to my joined({"names"} & theNames, theMark & "f")
	set end of theRows to my joined({"inputs"} & theInputs, theMark & "f")
	set end of theRows to my joined({"counts"} & theCounts, theMark & "f")
	set end of theRows to my joined({"again"} & idsAgain, theMark & "f")
	repeat with x in theFolders
		set end of theRows to my joined({"folder", item 1 of x} & (item 2 of x), theMark & "f")
	end repeat
	return my joined(theRows, theMark & "r") & theMark & "e"
end run
