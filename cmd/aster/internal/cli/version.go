package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Set at release by -ldflags "-X .../internal/cli.version=v1.2.3 -X …commit=… -X …date=…".
var version, commit, date string

// build says which program this is.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Date    string `json:"date,omitempty"` // of the commit, or of the build where -ldflags say so
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// thisBuild takes what the linker was told, else what the go command recorded.
func thisBuild() build {
	b := build{version, commit, date, runtime.Version(), runtime.GOOS, runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	fill := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	fill(&b.Version, info.Main.Version)
	fill(&b.Version, "(devel)")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			fill(&b.Commit, s.Value)
		case "vcs.time":
			fill(&b.Date, s.Value)
		}
	}
	return b
}

type versionOptions struct {
	*app
	json bool
}

func (a *app) versionCommand() *cobra.Command {
	o := &versionOptions{app: a}
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return versionRun(o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON, errors too")
	return cmd
}

func versionRun(o *versionOptions) error {
	b := thisBuild()
	if o.json {
		return printJSON(o.env, b)
	}
	text := "aster " + b.Version
	if b.Commit != "" {
		text += ", commit " + b.Commit
	}
	if b.Date != "" {
		text += ", " + b.Date
	}
	_, err := fmt.Fprintf(o.env.Stdout, "%s, %s %s/%s\n", text, b.Go, b.OS, b.Arch)
	return err
}
