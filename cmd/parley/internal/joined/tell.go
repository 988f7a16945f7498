package joined

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/host/join"
)

// teller prints changes of the link.
type teller struct {
	out          io.Writer
	server, name string
	agents       []string
	joined       bool
	last         string // the last printed failure since the last link
}

// state prints a change of the link. It prints failures with the same reason once.
func (t *teller) state(s join.State) {
	text := ""
	switch {
	case s.Joined:
		text = fmt.Sprintf("Joined %s as %s; agents: %s.", t.server, t.name, strings.Join(t.agents, ", "))
	case t.joined:
		text = "The link is lost; dialing again."
	case errors.Is(s.Err, host.ErrRefused):
		text = fmt.Sprintf("The server has refused this machine: %v. Trying again every %v.", s.Err, join.RefusedPause)
	default:
		text = fmt.Sprintf("No link: %v. Dialing again.", s.Err)
	}
	t.joined = s.Joined
	if text != t.last {
		fmt.Fprintln(t.out, term.OneLine(text))
	}
	t.last = text
}

// end prints whether agents continue to run, with the directory of their host.
func (t *teller) end(dir string, running int) {
	if running == 0 {
		fmt.Fprintln(t.out, "The link has ended. No agent runs.")
		return
	}
	fmt.Fprintf(t.out, "The link has ended. The agents run on (%d). parley host list shows them, parley host stop ends them, both with:\n\n  --data %s\n", running, dir)
}
