package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/client/serveragent"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/launch"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

const attachLong = `Attach follows a session of a server and lets you take part in it. A line that you type is
a prompt, or the answer to a request of the agent; these are commands:

  /allow  /deny     answer the oldest request for a permission
  /answer TEXT      answer the oldest question
  /interrupt        stop the running turn (also Ctrl-C)
  /queue            show the queued inputs; /release runs held ones
  /continue         continue an interrupted turn
  /quit             leave (also Ctrl-D); the session continues

/help lists all of them. A lost connection is restored automatically, without repeated messages.`

func newAttach(code *int) *cobra.Command {
	f := &remote.Flags{}
	cmd := &cobra.Command{Use: "attach [flags] SESSION", Short: "Follow a session of a server and take part", Long: attachLong, Args: term.Arguments(1, 1), DisableFlagsInUseLine: true}
	cmd.RunE = onServer(code, f, func(ctx context.Context, c *client.Client, _ io.Writer, args []string) error {
		s, err := (&serveragent.Provider{Client: c}).Resume(ctx, args[0], agent.Options{})
		if err != nil {
			return err
		}
		*code, err = launch.TalkOn(ctx, s)
		return err
	})
	f.Register(cmd.Flags())
	return cmd
}
