package main

import (
	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/launch"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

func newRun(code *int) *cobra.Command {
	flags := &launch.Flags{}
	cmd := &cobra.Command{
		Use:     "run [flags] [prompt | -]",
		Short:   "Run one prompt and show the agent's work",
		Long:    runLong,
		Example: runExample,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			*code, err = flags.Run(cmd.Context(), args)
			return err
		},
		ValidArgsFunction:     cobra.NoFileCompletions,
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().SortFlags = false
	flags.Register(cmd)
	return cmd
}

func newChat(code *int) *cobra.Command {
	flags := &launch.Flags{}
	cmd := &cobra.Command{
		Use:     "chat [flags]",
		Short:   "Talk with an agent",
		Long:    chatLong,
		Example: chatExample,
		Args:    term.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			*code, err = flags.Talk(cmd.Context())
			return err
		},
		ValidArgsFunction:     cobra.NoFileCompletions,
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().SortFlags = false
	flags.RegisterChat(cmd)
	return cmd
}
