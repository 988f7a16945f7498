package claude

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/internal/deadline"
)

// defaultMCP is the default of Deadlines.MCPTimeout.
const defaultMCP = 30 * time.Second

// missingTime is the time after the handshake in which the CLI must know a required server that
// the options do not define. Such a server comes from a plugin or from settings, or its name is
// wrong.
const missingTime = time.Second

// MCPNotReadyError is returned when servers of [Options.RequireMCP] are not connected. It lists
// them with the status that they had last.
type MCPNotReadyError struct {
	// Servers are the servers that are not connected, with their last status. A server that the
	// CLI does not know has the status [StatusMissing].
	Servers []MCPServerStatus
	// Err is the reason why waiting ended: nil if a server failed permanently, or the CLI does
	// not know it one second after the handshake, else a *[StalledError].
	Err error
}

// StatusMissing is the status of a required MCP server that the CLI does not list. The CLI
// never sends it.
const StatusMissing = "missing"

func (e *MCPNotReadyError) Error() string {
	parts := make([]string, 0, len(e.Servers))
	for _, s := range e.Servers {
		part := s.Name + " is " + s.Status
		if s.Error != "" {
			part += " (" + s.Error + ")"
		}
		parts = append(parts, part)
	}
	return "claude: MCP servers are not ready: " + strings.Join(parts, ", ")
}

// Unwrap returns the reason why waiting ended: a *[StalledError], or nil if a server failed
// permanently.
func (e *MCPNotReadyError) Unwrap() error { return e.Err }

// requireMCP waits until the servers of RequireMCP are connected. The handshake must have
// succeeded.
func (s *session) requireMCP(ctx context.Context) error {
	if len(s.launch.RequireMCP) == 0 {
		return nil
	}
	limit := deadline.Or(s.launch.MCPTimeout, defaultMCP)
	stalled := &StalledError{Phase: "MCP servers", Since: limit}
	waiting, cancel := deadline.With(ctx, limit, stalled)
	defer cancel()
	missing := notReady(s.launch.RequireMCP, nil)
	begun := time.Now()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		status, err := (&Client{s: s}).ListMCPServers(waiting)
		if err != nil && waiting.Err() == nil {
			return fmt.Errorf("claude: waiting for MCP servers: %w", err)
		}
		if err == nil {
			if missing = notReady(s.launch.RequireMCP, status); len(missing) == 0 {
				return nil
			}
			if slices.IndexFunc(missing, unsettled) < 0 || time.Since(begun) >= missingTime && slices.ContainsFunc(missing, s.launch.unknown) {
				return &MCPNotReadyError{Servers: missing}
			}
		}
		select {
		case <-time.After(pause):
		case <-s.over:
			return errEnded
		case <-waiting.Done():
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return &MCPNotReadyError{Servers: missing, Err: stalled}
		}
	}
}

// unknown reports whether neither the CLI nor the options know a server.
func (l *launch) unknown(s MCPServerStatus) bool {
	_, ours := l.MCPServers[s.Name]
	return s.Status == StatusMissing && !ours
}

// unsettled reports whether a server may still become connected by itself.
func unsettled(s MCPServerStatus) bool {
	return !slices.Contains([]string{"failed", "needs-auth", "disabled"}, s.Status)
}

// notReady returns the servers that are not connected, in the order of their names in the
// options.
func notReady(names []string, status []MCPServerStatus) (missing []MCPServerStatus) {
	for _, name := range names {
		i := slices.IndexFunc(status, func(s MCPServerStatus) bool { return s.Name == name })
		switch {
		case i < 0:
			missing = append(missing, MCPServerStatus{Name: name, Status: StatusMissing})
		case status[i].Status != "connected":
			missing = append(missing, status[i])
		}
	}
	return missing
}

// awaitMCP waits for the handshake and then calls requireMCP. If the handshake fails, it
// returns the error that ended the session.
func (s *session) awaitMCP(ctx context.Context) error {
	if len(s.launch.RequireMCP) == 0 {
		return nil
	}
	select {
	case <-s.ready:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	var err error
	s.update(func(st *sessionState) { err = st.handshake.err })
	if err == nil {
		err = s.requireMCP(ctx)
	}
	var refused *ControlError
	var notReady *MCPNotReadyError
	if err == nil || errors.As(err, &refused) || errors.As(err, &notReady) {
		return err
	}
	return &writeError{err}
}
