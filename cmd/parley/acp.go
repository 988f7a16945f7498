package main

import (
	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/ide"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

const acpLong = `Acp lets an editor talk to an agent: it speaks the Agent Client Protocol on its standard
input and output, as Zed, JetBrains, Neovim, Emacs and others do. The editor starts it; it
ends, with every agent that it has started, when the editor closes its input.

Standard output has only messages of the protocol. Errors are written to standard error.`

func newACP(code *int) *cobra.Command {
	f := &ide.Flags{}
	cmd := &cobra.Command{
		Use:                   "acp [flags]",
		Short:                 "Run as an editor's agent (ACP)",
		Long:                  acpLong,
		Args:                  term.NoArguments,
		ValidArgsFunction:     cobra.NoFileCompletions,
		DisableFlagsInUseLine: true,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return f.Run(cmd.Context(), code) },
	}
	f.Register(cmd.Flags())
	return cmd
}
