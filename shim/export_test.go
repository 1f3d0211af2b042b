package shim

// Compact is what Script does to the script.
var Compact = compact

// ReadableScript is Script with the script as it is in the repository.
func ReadableScript(c Config) string { return c.script(source()) }
