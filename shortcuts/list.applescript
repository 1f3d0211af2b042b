-- Lists all shortcuts. Argument: a mark, before "f" between fields, "r" between rows and
-- "e" at the end. Rows: s, id, name, accepts input, action count; or f, folder, ids….
on joined(theItems, theMark)
	set saved to AppleScript's text item delimiters
	set AppleScript's text item delimiters to theMark
	set out to theItems as text
	set AppleScript's text item delimiters to saved
	return out
end joined

on run argv
	set theMark to item 1 of argv
	set rows to {}
	set theFolders to {}
	with timeout of 60 seconds
		tell application "Shortcuts Events"
			set theIDs to id of every shortcut
			set theNames to name of every shortcut
			set theInputs to accepts input of every shortcut
			set theCounts to action count of every shortcut
			try
				repeat with f in folders
					set end of theFolders to {name of f, id of every shortcut of f}
				end repeat
			end try
		end tell
	end timeout
	repeat with i from 1 to count of theIDs
		set end of rows to my joined({"s", item i of theIDs, item i of theNames, (item i of theInputs) as text, (item i of theCounts) as text}, theMark & "f")
	end repeat
	repeat with f in theFolders
		set end of rows to my joined({"f", item 1 of f} & (item 2 of f), theMark & "f")
	end repeat
	return my joined(rows, theMark & "r") & theMark & "e"
end run
