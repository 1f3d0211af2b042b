package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

type initOptions struct{ configSource }

func (a *app) initCommand() *cobra.Command {
	o := &initOptions{configSource{app: a}}
	cmd := &cobra.Command{
		Use: "init", Short: "Write a first aster.yaml", Args: noArgs,
		Long: `Writes a first aster.yaml into your aster directory, with a server "browser" that is
disabled: "aster mcp enable browser" turns it on. A file that is there stays as it is.`,
		RunE: func(*cobra.Command, []string) error { return initRun(o) },
	}
	cmd.Flags().BoolVar(&o.project, "project", false, "write the project's aster.yaml instead")
	return cmd
}

func initRun(o *initOptions) error {
	opts, err := o.options()
	if err != nil {
		return err
	}
	path, scope, err := o.target(opts)
	if err != nil {
		return err
	}
	text, mode, schema := config.Scaffold(scope), fs.FileMode(0o600), filepath.Join(filepath.Dir(path), config.SchemaFile)
	if scope == config.ScopeProject {
		mode, schema = 0o644, ""
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already, and stays as it is", path)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if schema != "" { // for editors; the file works without
		if err := os.WriteFile(schema, config.Schema(), 0o600); err != nil {
			return err
		}
	}
	fmt.Fprintf(o.env.Stdout, "wrote %s\n", host.CleanText(path))
	return nil
}
