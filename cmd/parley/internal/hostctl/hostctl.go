// Package hostctl implements the subcommands of parley host: list, stop and logs.
package hostctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"text/tabwriter"
	"time"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/host"
)

// List is the output of parley host list, also as JSON.
type List struct {
	// Running reports whether a host runs. Otherwise the other fields are empty.
	Running bool         `json:"running"`
	Host    *host.Info   `json:"host,omitempty"`
	Agents  []host.Agent `json:"agents"`
	// Left lists agents that ended with a killed host and have output that no server has read
	// yet.
	Left []host.Agent `json:"left"`
}

// Ask queries the host of a data directory.
func Ask(ctx context.Context, dataDir string) (List, error) {
	list := List{Agents: []host.Agent{}, Left: []host.Agent{}}
	dead, err := host.ReadSpool(dataDir)
	if err != nil {
		return list, err
	}
	for _, d := range dead {
		list.Left = append(list.Left, d.Agent)
	}
	l, err := host.Dial(ctx, dataDir, 0)
	if errors.Is(err, host.ErrNotRunning) {
		return list, nil
	}
	if err != nil {
		return list, err
	}
	defer l.Close()
	info := l.Host()
	list.Running, list.Host = true, &info
	list.Agents, err = l.Agents(ctx)
	return list, err
}

// Count returns the number of running agents.
func (l List) Count() (n int) {
	for _, a := range l.Agents {
		if a.Exit == nil {
			n++
		}
	}
	return n
}

// Write writes the list for a person.
func (l List) Write(out io.Writer, now time.Time) error {
	if !l.Running {
		fmt.Fprintln(out, "No host runs.")
	} else {
		owner := "no owner"
		if l.Host.Owned {
			owner = "an owner"
		}
		fmt.Fprintf(out, "Host %d runs since %s and has %s.\n", l.Host.PID, l.Host.Started.Format(time.DateTime), owner)
	}
	if len(l.Left) > 0 {
		fmt.Fprintf(out, "Lines of %d agents are left that ended with their host; the next server reads them.\n", len(l.Left))
	}
	if len(l.Agents) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "AGENT\tPID\tSTATE\tAGE\tMEMORY\tLINES\tKEPT\tKEY\tPROGRAM")
	for _, a := range l.Agents {
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%d MB\t%d\t%d kB\t%s\t%s\n", a.Number, a.PID, state(a), now.Sub(a.Started).Round(time.Second), a.Memory>>20, a.Last, a.Spooled>>10,
			term.OneLine(a.Key), term.OneLine(a.Path))
	}
	return w.Flush()
}

func state(a host.Agent) string {
	switch {
	case a.Exit != nil:
		return "ended: " + a.Exit.String()
	case a.Waits:
		return "waits: full"
	}
	return "runs"
}

// Stop ends the agents of a host and the host.
func Stop(ctx context.Context, dataDir string, out io.Writer) error {
	l, err := host.Dial(ctx, dataDir, 0)
	if errors.Is(err, host.ErrNotRunning) {
		_, err = fmt.Fprintln(out, "No host runs.")
		return err
	}
	if err != nil {
		return err
	}
	defer l.Close()
	agents, err := l.Agents(ctx)
	if err != nil {
		return err
	}
	if err := l.Stop(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Host %d has ended, and with it %d agents.\n", l.Host().PID, List{Agents: agents}.Count())
	return err
}

// Logs writes the log of a host.
func Logs(dataDir string, out io.Writer) error {
	for _, name := range []string{host.LogFile(dataDir) + ".old", host.LogFile(dataDir)} {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = io.Copy(out, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}
