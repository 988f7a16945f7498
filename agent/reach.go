package agent

import "context"

// KeyProxied is implemented by a provider whose agents can reach their model through a proxy
// that holds the key.
type KeyProxied interface {
	// ProxyEnv is an environment without the credentials of env, in which the agent uses
	// the address and the token of the proxy.
	ProxyEnv(env []string, baseURL, token string) []string
}

// Reach is what an agent says of its own bounds. What it does not know is empty.
type Reach struct {
	PID       int      // of its process; 0 is not known
	ConfigDir string   // where it keeps settings, sessions and its login
	Logins    []string // files that hold a login, if they exist
	// Sandbox is how commands of the agent are confined: off, on, unsupported; empty is not
	// known. Missing says what keeps one from working that was asked for.
	Sandbox string
	Missing []string
	// The rest is what the sandbox lets through where it is on.
	DenyRead, AllowWrite, DenyWrite []string
	Domains                         []string // hosts that may be reached; empty is none without asking
	Escapes                         []string // commands that run outside of it
	CanEscape                       bool     // a command may run outside of it where a person allows it
}

// Reacher is implemented by a session that can say what bounds it has.
type Reacher interface {
	Reach(ctx context.Context) (Reach, error)
}
