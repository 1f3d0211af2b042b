-- Runs a shortcut. Arguments: a mark (as in the list), the id, the kind of input (none,
-- text or file), the input, a limit in seconds, and a path where data may be written.
-- Rows: a kind and a value each; a list's first row is "list" and how many follow.
on told(r, theMark, outPath)
	set c to class of r
	if c is text then return "text" & theMark & "f" & r
	if c is boolean then return "boolean" & theMark & "f" & (r as text)
	if c is integer or c is real then return "number" & theMark & "f" & (r as text)
	try
		if c is alias or (c as text) contains "furl" then return "file" & theMark & "f" & (POSIX path of r)
	end try
	try
		if c is not list and c is not record and c is not date then
			set h to open for access (POSIX file outPath) with write permission
			try
				set eof of h to 0
				write r to h
				close access h
			on error
				close access h
				error "not data"
			end try
			return "data" & theMark & "f" & (c as text)
		end if
	end try
	try
		return "text" & theMark & "f" & (r as text)
	end try
	return "other" & theMark & "f" & (c as text)
end told

on run argv
	set {theMark, theID, theKind, theInput, theLimit, outPath} to argv
	set r to missing value
	with timeout of (theLimit as integer) seconds
		tell application "Shortcuts"
			if theKind is "text" then
				set r to run (shortcut id theID) with input theInput
			else if theKind is "file" then
				set r to run (shortcut id theID) with input (POSIX file theInput)
			else
				set r to run (shortcut id theID)
			end if
		end tell
	end timeout
	try
		if r is missing value then return "none" & theMark & "f" & theMark & "e"
	on error
		return "none" & theMark & "f" & theMark & "e"
	end try
	if class of r is not list then return my told(r, theMark, outPath) & theMark & "e"
	set out to "list" & theMark & "f" & (count of r)
	repeat with i from 1 to count of r
		set out to out & theMark & "r" & my told(item i of r, theMark, outPath & "." & i)
	end repeat
	return out & theMark & "e"
end run
