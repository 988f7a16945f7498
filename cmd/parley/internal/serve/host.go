package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/server/session"
)

// stopTime bounds the end of the host and its agents when the server is stopped on purpose.
const stopTime = 30 * time.Second

// checkHost refuses settings that do not work with a host.
func (f *Settings) checkHost() error {
	switch {
	case !f.host:
		return nil
	case f.apiKeyFile != "" || os.Getenv(keyVariable) != "":
		return term.Usagef("--host does not go with --api-key-file and " + keyVariable + ": the key is lost to an agent that outlives the server")
	}
	return nil
}

// openHost starts the host, if one is wanted. end is called after the server, with its error: it ends the agents and the host, unless
// the server leaves them to the next one or could not start. It prints which of both.
func (f *Settings) openHost(ctx context.Context, out io.Writer, logger *slog.Logger) (h *session.Host, end func(failed error) error, err error) {
	if !f.host {
		return nil, func(error) error { return nil }, nil
	}
	if h, err = session.OpenHost(ctx, f.Data, session.HostOptions{Options: host.Options{OrphanTimeout: f.orphanTimeout}, KeepChildren: f.keep}, logger); err != nil {
		return nil, nil, fmt.Errorf("the host of the agents: %w", err)
	}
	return h, func(failed error) error {
		if failed != nil && ctx.Err() == nil || errors.Is(context.Cause(ctx), server.ErrLeave) {
			if failed == nil {
				fmt.Fprintln(out, "The agents run on, for the next server. parley host list shows them, parley host stop ends them.")
			}
			return h.Close()
		}
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if err := h.Stop(bound); err != nil {
			return err
		}
		fmt.Fprintln(out, "The agents and their host have ended.")
		return nil
	}, nil
}
