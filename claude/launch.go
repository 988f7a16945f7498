package claude

import (
	"maps"

	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/internal/claudedir"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// launch holds the effective options of one session: a private copy of the caller's
// Options, which is never written, and values that the start decides in their place. All
// code after the start reads it. A field of launch hides the option of the same name, so
// that no code can read the caller's value by mistake. Only the methods in this file
// write these fields, and only while the session starts.
type launch struct {
	Options

	Env             map[string]string
	CleanEnv        bool
	SettingSources  []string
	StrictMCPConfig bool
	Continue        bool
	Resume          string
	ForkSession     bool

	stored SessionKey // key of the session if it was restored from a store and not forked
	hooks  hook.Table // built once, because the CLI calls hooks by their number
}

// newLaunch checks the options and returns the launch of one session. The error is an
// *OptionError.
func newLaunch(opts *Options) (*launch, error) {
	l := unchecked(opts)
	if err := l.Check(); err != nil {
		return nil, err
	}
	return l, nil
}

// unchecked is newLaunch without checks, for callers that do not start a session.
func unchecked(opts *Options) *launch {
	o := opts.Clone()
	l := &launch{Options: *o, Env: o.Env, CleanEnv: o.CleanEnv, SettingSources: o.SettingSources,
		StrictMCPConfig: o.StrictMCPConfig, Continue: o.Continue, Resume: o.Resume, ForkSession: o.ForkSession}
	l.hooks = hook.NewTable(l.allHooks(), l.MaxAbsence)
	return l
}

// addEnv adds variables to the environment. Variables of the options keep their value.
func (l *launch) addEnv(env map[string]string) {
	all := maps.Clone(env)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, l.Env)
	l.Env = all
}

// isolated makes env the whole environment and disables the user's settings and servers,
// unless the options name them.
func (l *launch) isolated(env map[string]string) {
	l.Env, l.CleanEnv = env, true
	if l.SettingSources == nil {
		l.SettingSources = []string{}
	}
	l.StrictMCPConfig = true
}

// resumes makes the launch resume one session; "" begins a new one.
func (l *launch) resumes(id string) { l.Continue, l.Resume = false, id }

// setStoreKey sets the store key of the resumed session.
func (l *launch) setStoreKey(key SessionKey) { l.stored = key }

// useConfigDir sets the CLI's configuration directory. It does not activate a fixed
// project name that had no effect before.
func (l *launch) useConfigDir(dir string) {
	fixed := claudedir.FixedProject(claudedir.Environ(l.environ()))
	l.Env = maps.Clone(l.Env)
	if l.Env == nil {
		l.Env = map[string]string{}
	}
	l.Env[claudedir.ConfigVariable] = dir
	if claudedir.FixedProject(claudedir.Environ(l.environ())) != fixed {
		l.Env[claudedir.ProjectVariable] = ""
	}
}

// forks makes the launch continue the resumed session as a new session.
func (l *launch) forks() { l.ForkSession = true }

// registered takes the ids of hooks from the handshake that the previous process wrote, before this
// process answers the CLI's requests.
func (l *launch) registered(line string) {
	var m struct {
		Request struct {
			Hooks map[hook.Event][]hook.Registration `json:"hooks"`
		} `json:"request"`
	}
	if err := jsonwire.Unmarshal(line, &m); err != nil {
		m.Request.Hooks = nil // then every hook is refused
	}
	l.hooks = l.hooks.Registered(m.Request.Hooks)
}
