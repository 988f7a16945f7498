package agent

import "context"

// KeyProxied is implemented by a provider with agents that can reach their model through a proxy
// that holds the key.
type KeyProxied interface {
	// ProxyEnv returns a copy of env without its credentials, which makes the agent use the address
	// and the token of the proxy.
	ProxyEnv(env []string, baseURL, token string) []string
}

// Reach lists the files and hosts that a running agent can read, write and connect to, as far as
// the agent knows. Unknown fields are empty.
type Reach struct {
	PID       int      // of the agent's process; 0 if unknown
	ConfigDir string   // the directory of settings, sessions and the login
	Logins    []string // files that hold a login, if they exist
	// Sandbox is the confinement of the agent's commands: off, on, unsupported; empty if unknown.
	// Missing lists the reasons why a requested sandbox does not work.
	Sandbox string
	Missing []string
	// The other fields are the rules of an enabled sandbox.
	DenyRead, AllowWrite, DenyWrite []string
	Domains                         []string // reachable hosts; empty means none without asking
	Escapes                         []string // commands that run outside of the sandbox
	CanEscape                       bool     // a command may run outside of it if a person allows it
}

// Reacher is implemented by a session that can report the limits of its agent.
type Reacher interface {
	// Reach returns the limits of the running agent.
	Reach(ctx context.Context) (Reach, error)
}
