// Command aster gives AI clients the tools of web pages, of the web and of the Mac over the
// Model Context Protocol.
package main

import (
	"os"

	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
)

func main() { os.Exit(cli.Main()) }
