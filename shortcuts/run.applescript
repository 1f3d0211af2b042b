-- Runs a shortcut. Arguments: a mark (as in the list), the id, the kind of input (none,
-- text or file), the input, a limit in seconds, and a path where data may be written.
-- Rows: a kind and a value each; a list's first row is "list" and how many follow. A
-- shortcut that gives nothing ends this with the error -2763, or -2753 for theResult.
on joined(theItems, theMark)
	set saved to AppleScript's text item delimiters
	set AppleScript's text item delimiters to theMark
	set theText to theItems as text
	set AppleScript's text item delimiters to saved
	return theText
end joined

on twoDigits(n)
	return text -2 thru -1 of ("0" & (n as integer))
end twoDigits

-- A date as 2026-01-31T12:00:00: its text would be in the words of the Mac's language.
on dateText(d)
	set t to time of d
	set theDay to (year of d as text) & "-" & my twoDigits(month of d as integer) & "-" & my twoDigits(day of d)
	return theDay & "T" & my twoDigits(t div 3600) & ":" & my twoDigits(t mod 3600 div 60) & ":" & my twoDigits(t mod 60)
end dateText

-- The items of a list and of the lists in it.
on flat(theList)
	set theItems to {}
	repeat with i from 1 to count of theList
		set x to item i of theList
		if class of x is list then
			set theItems to theItems & my flat(x)
		else
			set end of theItems to x
		end if
	end repeat
	return theItems
end flat

on told(r, theMark, outPath)
	set c to class of r
	if c is text then return "text" & theMark & "f" & r
	if c is boolean then return "boolean" & theMark & "f" & (r as text)
	if c is integer or c is real then return "number" & theMark & "f" & (r as text)
	if c is date then return "text" & theMark & "f" & my dateText(r)
	if c is class then
		if r is missing value then return "none" & theMark & "f"
	end if
	try
		if c is alias or (c as text) contains "furl" then return "file" & theMark & "f" & (POSIX path of r)
	end try
	try
		if c is not record then return "text" & theMark & "f" & (r as text)
	end try
	try
		if c is not record then
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
	return "other" & theMark & "f" & (c as text)
end told

on run argv
	set {theMark, theID, theKind, theInput, theLimit, outPath} to argv
	-- Inside the tell block, "POSIX file" would be a question to the app.
	if theKind is "file" then set theInput to (POSIX file theInput) as alias
	with timeout of (theLimit as integer) seconds
		tell application "Shortcuts"
			if theKind is "none" then
				set theResult to run shortcut id theID
			else
				set theResult to run shortcut id theID with input theInput
			end if
		end tell
	end timeout
	if class of theResult is not list then return my told(theResult, theMark, outPath) & theMark & "e"
	set theItems to my flat(theResult)
	set theRows to {"list" & theMark & "f" & (count of theItems)}
	repeat with i from 1 to count of theItems
		set end of theRows to my told(item i of theItems, theMark, outPath & "." & i)
	end repeat
	return my joined(theRows, theMark & "r") & theMark & "e"
end run
