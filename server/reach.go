package server

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/spawn/box"
)

// findings are the observations for an isolation report.
type findings struct {
	reach      agent.Reach
	reachErr   error
	proxied    bool     // the agent reaches its model through the key proxy
	variables  []string // names in the agent's environment
	inspected  bool     // environment and arguments were read from the process
	keySeen    bool     // the server's key was found in environment or arguments
	logins     []string // readable files that contain a login
	mode       string
	dirs       []string // the directories of the session
	writable   []string // writable ones among dirs, home, the configuration and the server's data
	readable   []string // readable ones of the same
	serverData string
	interfaces []string // interfaces that reach other machines

	box    *api.Box // nil without a box
	hosts  []string // that the box reaches through the key proxy
	tried  box.Seen // what was seen inside of such a box
	boxErr error    // why that failed
}

// secretNames are names of variables that usually hold a secret.
var secretNames = regexp.MustCompile(`(?i)(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTH)(_|$)`)

// report returns the isolation report of an agent. A check is ok if its restriction is effective.
func (f *findings) report() api.IsolationResult {
	r := api.IsolationResult{Read: f.reads(), Write: f.writes(), Network: f.network(), Secrets: f.secrets(), Sandbox: f.reach.Sandbox, Checks: []api.IsolationCheck{}}
	r.HoldsLogin = len(f.logins) > 0 || !f.proxied && len(r.Secrets) > 0 || f.keySeen
	add := func(name string, ok bool, format string, args ...any) {
		r.Checks = append(r.Checks, api.IsolationCheck{Name: name, OK: ok, Detail: fmt.Sprintf(format, args...)})
	}
	f.checkSecrets(add)
	if f.box != nil {
		r.Sandbox = f.box.Kind
		f.checkBox(add)
	} else {
		f.checkSandbox(add)
	}
	switch f.mode {
	case "bypassPermissions":
		add("permissions", false, "The mode is bypassPermissions: every tool runs without asking.")
	case "acceptEdits":
		add("permissions", false, "The mode is acceptEdits: files in the session's directories are changed without asking.")
	default:
		add("permissions", true, "The mode is %s: tools that change something ask first, unless a rule allows them.", f.mode)
	}
	add("server_data", !slices.Contains(f.writable, f.serverData), "The server's data directory %s is %s by the user that the agent runs as.", f.serverData,
		map[bool]string{true: "writable", false: "not writable"}[slices.Contains(f.writable, f.serverData)])
	network := fmt.Sprintf("Interfaces that reach other machines: %s.", orNone(f.interfaces))
	if len(f.hosts) > 0 {
		network += fmt.Sprintf(" Hosts that the key proxy connects with: %s.", orNone(f.hosts))
	}
	add("network", f.confined() && f.box == nil || len(f.interfaces) == 0, "%s", network)
	return r
}

func (f *findings) checkSecrets(add func(name string, ok bool, format string, args ...any)) {
	switch {
	case f.proxied && f.inspected:
		add("api_key", !f.keySeen, "The environment and the arguments of process %d were read: the server's key is %s. Its ANTHROPIC_API_KEY is a token for this session at a loopback proxy.",
			f.reach.PID, map[bool]string{true: "in them", false: "not in them"}[f.keySeen])
	case f.proxied:
		add("api_key", true, "The agent was given a token for this session at a loopback proxy in place of the key; its process could not be looked at.")
	default:
		add("api_key", false, "The server was given no API key: the agent uses, and can read, the login of the user that it runs as.")
	}
	where := "given to the agent"
	if f.inspected {
		where = fmt.Sprintf("in the environment of process %d", f.reach.PID)
	}
	add("environment", len(f.secrets()) == 0, "%d variables are %s; those that look like secrets: %s.", len(f.variables), where, orNone(f.secrets()))
	add("login_files", len(f.logins) == 0, "Files with a login that the agent's user can read: %s.", orNone(f.logins))
}

func (f *findings) checkSandbox(add func(name string, ok bool, format string, args ...any)) {
	switch {
	case f.reachErr != nil:
		add("sandbox", false, "The agent does not report whether its commands are confined: %s", session.FailureOf(f.reachErr).Message)
	case f.reach.Sandbox == "":
		add("sandbox", false, "This agent does not report whether its commands are confined.")
	case f.reach.Sandbox == "on":
		add("sandbox", true, "Commands of the agent run in a sandbox; its own file tools do not, they follow the permissions.")
		add("sandbox_escape", !f.reach.CanEscape && len(f.reach.Escapes) == 0, "Commands may leave the sandbox where a person allows it: %t; commands that always do: %s.",
			f.reach.CanEscape, orNone(f.reach.Escapes))
	case len(f.reach.Missing) > 0:
		add("sandbox", false, "The sandbox is off: %s.", strings.Join(f.reach.Missing, "; "))
	default:
		add("sandbox", false, "The sandbox is %s: commands can do what the user can that the agent runs as.", f.reach.Sandbox)
	}
}

// checkBox adds the checks that were made from inside of the box.
func (f *findings) checkBox(add func(name string, ok bool, format string, args ...any)) {
	if f.boxErr != nil {
		add("box", false, "The agent runs in a box, which could not be tried from inside: %s", session.FailureOf(f.boxErr).Message)
		return
	}
	add("box", true, "The agent runs in a box of bubblewrap with the network %s. The checks of files, processes, sockets and the network were made from inside of another one like it.", f.box.Network)
	add("processes", f.tried.Processes == 0, "Processes outside that the box shows: %d.", f.tried.Processes)
	add("sockets", len(f.tried.Connected) == 0, "Sockets of the machine that the box reaches: %s.", orNone(f.tried.Connected))
}

// boxed reports whether the box was tried from inside.
func (f *findings) boxed() bool { return f.box != nil && f.boxErr == nil }

// confined reports whether commands are in a sandbox.
func (f *findings) confined() bool { return f.reachErr == nil && f.reach.Sandbox == "on" }

// secrets returns the names of variables that look like secrets, without the proxy's token.
func (f *findings) secrets() []string {
	names := []string{}
	for _, name := range f.variables {
		if secretNames.MatchString(name) && !(f.proxied && name == "ANTHROPIC_API_KEY") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (f *findings) reads() []string {
	if f.boxed() {
		return append(slices.Clone(f.readable), "the system's programs")
	}
	reads := slices.Clone(f.readable)
	if len(f.reach.DenyRead) > 0 && f.confined() {
		return append(reads, "everything else that the user can read, but not by commands: "+strings.Join(f.reach.DenyRead, ", "))
	}
	return append(reads, "everything else that the user can read")
}

func (f *findings) writes() []string {
	if f.boxed() {
		return slices.Clone(f.writable)
	}
	if f.confined() {
		return slices.Concat(f.dirs, f.reach.AllowWrite)
	}
	return append(slices.Clone(f.writable), "everything else that the user can write")
}

func (f *findings) network() []string {
	switch {
	case f.boxed() && len(f.interfaces) == 0:
		return append([]string{}, f.hosts...)
	case f.confined():
		return append([]string{}, f.reach.Domains...)
	case len(f.interfaces) == 0:
		return []string{"this machine"}
	}
	return []string{"this machine", "every host that this machine reaches"}
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// contained drops paths that are below others of the list.
func contained(paths []string) []string {
	var out []string
	for _, p := range paths {
		if p != "" && !slices.Contains(out, filepath.Clean(p)) {
			out = append(out, filepath.Clean(p))
		}
	}
	return out
}
