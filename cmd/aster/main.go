// Command aster gives AI clients the tools of web pages, of the web and of the Mac over the
// Model Context Protocol.
package main

import (
	"embed"
	"io/fs"
	"os"

	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
)

// docs are the pages of "aster help TOPIC".
//
//go:embed docs/*.md
var docs embed.FS

func main() { os.Exit(cli.Main(pages())) }

// pages is the folder of docs.
func pages() fs.FS {
	dir, _ := fs.Sub(docs, "docs") // fails for no path that is valid
	return dir
}
