package spawn

import (
	"context"
	"strconv"
)

// String returns the status as text, such as "exit status 3" or "signal SIGKILL".
func (s ExitStatus) String() string {
	if s.Signal != "" {
		return "signal " + s.Signal
	}
	return "exit status " + strconv.Itoa(s.Code)
}

// Spawn calls f with the same arguments. It makes a function a [Spawner], like http.HandlerFunc for
// handlers.
func (f Func) Spawn(ctx context.Context, cmd Command) (Process, error) { return f(ctx, cmd) }
