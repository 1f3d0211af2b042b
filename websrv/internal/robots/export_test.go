package robots

// What the case file asks about besides verdicts.
var (
	PathParamsQuery = pathParamsQuery
	Escape          = escape
)
