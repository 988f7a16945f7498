package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/server/mcpserver"
)

const mcpLong = `Mcp offers the sessions of a server to an agent as tools: it speaks the Model Context Protocol on its
standard input and output. The agent can list, start, read and interrupt sessions, send prompts, wait for
their end and read their changes, if the token allows it.

The token comes from a file, so that it is neither in the environment nor in the arguments that other
processes see. "parley token create --agent-of SESSION" creates one for the agent of a session. A server
also speaks the protocol over HTTP, at /mcp. A message over 16 MiB is answered with an error.`

func newMCP(code *int) *cobra.Command {
	f, file := &remote.Flags{}, ""
	cmd := &cobra.Command{
		Use:                   "mcp --token-file FILE [flags]",
		Short:                 "Offer the sessions of a server to an agent as MCP tools",
		Long:                  mcpLong,
		Args:                  term.NoArguments,
		ValidArgsFunction:     cobra.NoFileCompletions,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return &term.UsageError{Text: "--token-file is missing"}
			}
			failed(code, serveMCP(cmd.Context(), f, file))
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "token-file", "", "file with the token of the agent")
	cmd.Flags().StringVar(&f.Server, "server", "", "address of the server (default: the one of --data)")
	cmd.Flags().StringVar(&f.Data, "data", remote.DefaultData(), "data directory of a server on this machine")
	return cmd
}

// serveMCP serves the tools on standard input and output until the input ends.
func serveMCP(ctx context.Context, f *remote.Flags, tokenFile string) error {
	c, err := f.ConnectWith(tokenFile)
	if err != nil {
		return err
	}
	if err := remote.Reach(ctx, c); err != nil {
		return err
	}
	err = mcpserver.New(c, thisBuild().Version).Run(ctx, mcpserver.Stdio(os.Stdin, term.ProtocolOutput()))
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
