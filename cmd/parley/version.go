package main

import (
	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/build"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// version and commit are set by the linker in scripts/dist. Otherwise the version is the one in the
// source, and the commit is the one that the Go tool has recorded.
var version, commit string

// thisBuild returns the build of this program.
func thisBuild() build.Info { return build.Running(version, commit) }

func newVersion() *cobra.Command {
	cmd := &cobra.Command{
		Use: "version [flags]", Short: "Print the version, the commit and the build environment", Args: term.NoArguments, DisableFlagsInUseLine: true,
		Example: "  parley version\n  parley version --json | jq -r .commit",
	}
	asJSON := cmd.Flags().Bool("json", false, "print a JSON object")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return thisBuild().Print(cmd.OutOrStdout(), *asJSON)
	}
	return cmd
}
