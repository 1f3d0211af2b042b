package config

// A ConsentRequest is what a project's file asks for and the user has not agreed to.
type ConsentRequest struct {
	Name  string   // of the server; "" for the settings of the project's file
	Place Place    // where it is written
	Lines []string // exactly what would run or hold, uncut, for the user to read
	Hash  string   // changes with whatever the lines say
}
