package agent

import "context"

// KeyProxied is implemented by a provider whose agents can reach their model through a proxy
// that holds the key.
type KeyProxied interface {
	// ProxyEnv returns a copy of env without its credentials, with which the agent uses the
	// address and the token of the proxy.
	ProxyEnv(env []string, baseURL, token string) []string
}

// Reach is what a running agent can read, write and connect to, as far as the agent itself knows
// it. Fields that are not known are empty.
type Reach struct {
	PID       int      // of the agent's process; 0 means not known
	ConfigDir string   // where it keeps settings, sessions and its login
	Logins    []string // files that hold a login, if they exist
	// Sandbox is how the commands of the agent are confined: off, on, unsupported; empty means
	// not known. Missing lists what keeps a sandbox that was asked for from working.
	Sandbox string
	Missing []string
	// The other fields are the rules of a sandbox that is on.
	DenyRead, AllowWrite, DenyWrite []string
	Domains                         []string // hosts that may be reached; empty means none without asking
	Escapes                         []string // commands that run outside of the sandbox
	CanEscape                       bool     // a command may run outside of it if a person allows it
}

// Reacher is implemented by a session that can report what its agent can reach.
type Reacher interface {
	// Reach returns the limits of the running agent.
	Reach(ctx context.Context) (Reach, error)
}
