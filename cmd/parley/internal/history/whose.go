package history

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/codex/rollout"
)

// The agents.
const (
	Claude = "claude"
	Codex  = "codex"
)

// Whose holds the flags that select the agents to read files of.
type Whose struct {
	Agent     string // claude or codex; "" means both
	CodexHome string
	Changed   func(flag string) bool
}

func (f *Whose) Register(cmd *cobra.Command) {
	f.Changed = cmd.Flags().Changed
	fs := cmd.Flags()
	fs.StringVar(&f.Agent, "agent", "", "only sessions of claude or of codex (default both)")
	fs.StringVar(&f.CodexHome, "codex-home", "", "the home `directory` of Codex (default $CODEX_HOME, else ~/.codex); if only one of this flag and --config-dir is set, only that agent's sessions are read")
	CompleteValues(cmd, "agent", []string{Claude, Codex})
	if err := cmd.MarkFlagDirname("codex-home"); err != nil {
		panic(err) // the flag exists
	}
}

// Choose sets the defaults. An error is a usage error.
func (f *Whose) Choose() error {
	config, home := f.Changed("config-dir"), f.Changed("codex-home")
	switch {
	case f.Agent == "" && config && !home:
		f.Agent = Claude
	case f.Agent == "" && home && !config:
		f.Agent = Codex
	case f.Agent != "" && f.Agent != Claude && f.Agent != Codex:
		return term.Usagef("--agent %s: it is claude or codex", f.Agent)
	}
	return nil
}

// Codex returns the directory of Codex's sessions, or "" if they are not selected, or do not
// exist and were not selected explicitly.
func (f *Whose) Codex() (string, error) {
	if f.Agent == Claude {
		return "", nil
	}
	home := f.CodexHome
	if home == "" {
		var err error
		if home, err = rollout.DefaultHome(); err != nil {
			if f.Agent == "" {
				return "", nil
			}
			return "", err
		}
	}
	for _, sub := range []string{"sessions", "archived_sessions"} {
		if info, err := os.Stat(filepath.Join(home, sub)); err == nil && info.IsDir() {
			return home, nil
		}
	}
	if f.Agent == "" {
		return "", nil
	}
	return "", fmt.Errorf("no sessions of codex in %s", home)
}

// WithAgent inserts the agent after the name of a row, if there are several agents.
func WithAgent(cells []string, agent string, several bool) []string {
	if !several {
		return cells
	}
	return slices.Insert(cells, 1, agent)
}

var ago = regexp.MustCompile(`^(\d{1,5})([dhwm])$`)

// ParseAgo parses a duration such as 7d.
func ParseAgo(text string) (d time.Duration, ok bool) {
	m := ago.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, _ := strconv.Atoi(m[1]) // cannot fail: the expression matched digits
	unit := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}[m[2]]
	d = time.Duration(n) * unit
	return d, d/unit == time.Duration(n) // false if it overflows a Duration
}

// CompleteValues sets the completion of a flag to fixed values.
func CompleteValues(cmd *cobra.Command, flag string, values []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}
