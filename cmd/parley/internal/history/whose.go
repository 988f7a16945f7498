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

// Whose says which agents' files are read.
type Whose struct {
	Agent     string // one of claude and codex; "" is both
	CodexHome string
	Changed   func(flag string) bool
}

func (f *Whose) Register(cmd *cobra.Command) {
	f.Changed = cmd.Flags().Changed
	fs := cmd.Flags()
	fs.StringVar(&f.Agent, "agent", "", "only sessions of claude or of codex (default both)")
	fs.StringVar(&f.CodexHome, "codex-home", "", "the home `directory` of Codex (default $CODEX_HOME, else ~/.codex); with it or with --config-dir alone, only that agent's")
	CompleteValues(cmd, "agent", []string{Claude, Codex})
	if err := cmd.MarkFlagDirname("codex-home"); err != nil {
		panic(err) // the flag is there
	}
}

// Choose makes up for what is not said. An error is one of usage.
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

// Codex is where Codex keeps its sessions; "" if they are not asked for, or if there are none
// and they were not asked for alone.
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
	return "", fmt.Errorf("there are no sessions of codex in %s", home)
}

// WithAgent puts the agent after the name of a row, where there are several agents.
func WithAgent(cells []string, agent string, several bool) []string {
	if !several {
		return cells
	}
	return slices.Insert(cells, 1, agent)
}

var ago = regexp.MustCompile(`^(\d{1,5})([dhwm])$`)

// ParseAgo is how long ago a text such as 7d says.
func ParseAgo(text string) (d time.Duration, ok bool) {
	m := ago.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, _ := strconv.Atoi(m[1]) // the expression has seen to it
	unit := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}[m[2]]
	d = time.Duration(n) * unit
	return d, d/unit == time.Duration(n) // else it is longer than a Duration can be
}

// CompleteValues completes a flag with the values that it can have.
func CompleteValues(cmd *cobra.Command, flag string, values []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}
