package claude

import (
	"maps"

	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/internal/claudedir"
)

// launch is what one session runs with: a private copy of the caller's Options and
// what the start decides in their place. Everything after the start reads it.
// The copy is never written. A field of launch hides the option of the same name, so
// that no code can read the input where the start has decided otherwise; the
// methods in this file are the only ones that write these fields, and only while
// the session starts.
type launch struct {
	Options

	Env             map[string]string
	CleanEnv        bool
	SettingSources  []string
	StrictMCPConfig bool
	Continue        bool
	Resume          string
	ForkSession     bool

	stored SessionKey // of the session that was restored from a store and is not forked
	hooks  hook.Table // found once, since the CLI calls hooks by their number
}

// newLaunch checks the options and makes the launch of one session from them. The
// error is an *OptionError; nothing has been started then.
func newLaunch(opts *Options) (*launch, error) {
	l := unchecked(opts)
	if err := l.Check(); err != nil {
		return nil, err
	}
	return l, nil
}

// unchecked is newLaunch for callers that need a part of a launch without starting
// anything.
func unchecked(opts *Options) *launch {
	o := opts.Clone()
	l := &launch{Options: *o, Env: o.Env, CleanEnv: o.CleanEnv, SettingSources: o.SettingSources,
		StrictMCPConfig: o.StrictMCPConfig, Continue: o.Continue, Resume: o.Resume, ForkSession: o.ForkSession}
	l.hooks = hook.NewTable(l.allHooks())
	return l
}

// addEnv adds variables to the environment. One that the options set keeps its
// value.
func (l *launch) addEnv(env map[string]string) {
	all := maps.Clone(env)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, l.Env)
	l.Env = all
}

// isolated makes env the whole environment and leaves out the settings and servers
// of the user, as far as the options do not name them.
func (l *launch) isolated(env map[string]string) {
	l.Env, l.CleanEnv = env, true
	if l.SettingSources == nil {
		l.SettingSources = []string{}
	}
	l.StrictMCPConfig = true
}

// resumes makes the launch go on with one session; "" begins a new one.
func (l *launch) resumes(id string) { l.Continue, l.Resume = false, id }

// goesOn notes under which key of the store the resumed session goes on.
func (l *launch) goesOn(key SessionKey) { l.stored = key }

// useConfigDir sets the CLI's configuration directory. A fixed name of projects that
// did not count without one does not begin to count.
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

// forks makes the launch write a new session with the content of the resumed one.
func (l *launch) forks() { l.ForkSession = true }
