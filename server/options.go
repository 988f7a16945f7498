package server

import (
	"cmp"
	"crypto/x509"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/budget"
	"github.com/seed7221b0f9/parley/server/preview"
	"github.com/seed7221b0f9/parley/server/session"
)

// The values that [Options] has by default, for the fields that are zero. Sizes are in bytes.
const (
	DefaultMaxAgents      = 8
	DefaultMaxSessions    = 10_000
	DefaultMaxConnections = 1000
	DefaultMaxBody        = 32 << 20
	DefaultIdleTimeout    = 15 * time.Minute
	DefaultUnloadAfter    = time.Minute
	DefaultStartTimeout   = 2 * time.Minute
	DefaultCallTimeout    = time.Minute
	DefaultDrainTimeout   = 20 * time.Second
	DefaultDeltaInterval  = 250 * time.Millisecond
	DefaultJoinInterval   = 25 * time.Millisecond
	DefaultViewerInterval = 20 * time.Millisecond
	DefaultHeaderTimeout  = 10 * time.Second
	DefaultHeartbeat      = 10 * time.Second
	DefaultWriteTimeout   = 30 * time.Second

	DefaultTurnReserveUSD    = 0.25
	DefaultTurnReserveTokens = 100_000
)

// Options configures a server. Providers and Store are required; every other zero field
// has a default that is safe.
type Options struct {
	// Providers are the agents that sessions can have. The first is the default.
	Providers []agent.Provider
	// Simulated says that the default provider is not a real agent.
	Simulated bool
	// Store holds the logs of the sessions. The server does not close it.
	Store *eventlog.Store
	// Dir is where tokens and uploads are. It is made with mode 0700.
	Dir string
	// Limits are the most bytes that a kind of data may take: logs, uploads, worktrees. What is over a limit is
	// deleted, oldest first, without what is in use: sessions with their logs and uploads, uploads alone, worktrees
	// in which no work would be lost. A kind without a limit is never deleted.
	Limits map[string]int64
	// Archive is the directory of the user's archive of sessions, which is measured alone; empty if there is none.
	Archive string
	// Version is what the server calls itself.
	Version string
	// Directories are the directories that sessions may run in, with all below them;
	// empty is the current directory alone.
	Directories []string
	// DefaultModel and DefaultMode are for sessions that name none. Without a DefaultMode that is
	// "default", except for an agent with modes of its own, which keeps the one that it starts in.
	DefaultModel, DefaultMode string
	// AllowBypass lets sessions run without permissions. Off, bypassPermissions is refused.
	AllowBypass bool
	// Env is the whole environment of agents, as KEY=value. See [AgentEnv].
	Env []string
	// APIKey is a key that agents use without holding it: a loopback proxy adds it to their
	// requests to APIUpstream, which is Anthropic's API if empty. See package keyproxy. It
	// is for agents whose provider is an [agent.KeyProxied]; others have what Env gives.
	APIKey, APIUpstream string
	// Budgets are limits that hold while the server runs, beside those that clients set.
	Budgets []budget.Limit
	// TurnReserve is the least that a turn reserves of the budgets that hold for it, in dollars and
	// in tokens. A turn whose budget is reserved by others waits for them.
	TurnReserve budget.Amount
	// Price is what an answer costs in dollars, false where that is not known. Without it
	// budgets in dollars count what agents say at the end of a turn.
	Price func(agent.Used) (float64, bool)
	// Tenant returns what the sessions of a tenant are run with; it is called once for each
	// name. Nil runs them with Providers and Env, and then tenants can neither list nor
	// resume what agents keep on disk.
	Tenant func(name string) (Tenant, error)
	// GitEnv is the environment that git's is taken from, by an allow-list; nil is that of
	// this process. Setup commands of workspaces get Env.
	GitEnv []string
	// TrustGit are hashes of [workspace.Programs] that git runs although an agent can write
	// them. The log has the hash of those that it does not run.
	TrustGit []string

	// AllowedHosts are host names that requests may name beside loopback ones, with or
	// without a port. AllowedOrigins are origins of pages that may call beside the
	// server's own, as scheme://host:port.
	AllowedHosts, AllowedOrigins []string
	// TrustedProxies are addresses or networks whose X-Forwarded-For header counts.
	TrustedProxies []string
	// SecureCookies marks cookies as for HTTPS alone. Set it when the server or its proxy
	// speaks TLS.
	SecureCookies bool
	// MaxConnections limits open sockets and streams, MaxBody the bytes of a request.
	// HeaderTimeout is how long a client may take to send the header of a request.
	MaxConnections int
	MaxBody        int64
	HeaderTimeout  time.Duration

	// MaxAgents is how many agents run at once; more wait in a fair queue. MaxSessions is
	// how many sessions there can be.
	MaxAgents, MaxSessions int
	// IdleTimeout is after how long an idle agent is ended; its session stays and resumes
	// by itself. Negative is never.
	IdleTimeout time.Duration
	// UnloadAfter is after how long a session without agent and viewers leaves the memory.
	UnloadAfter time.Duration
	// StartTimeout bounds starting an agent, CallTimeout a call to one, DrainTimeout the
	// wait for running turns at the end.
	StartTimeout, CallTimeout, DrainTimeout time.Duration
	// Stall says what happens to a turn that is silent.
	Stall Stall

	// DeltaInterval is how often deltas go to disk. JoinInterval is how long a delta waits at most
	// for others of its block, to be joined with them; one that comes later than that after the
	// last does not wait. ViewerInterval is the least time between two writes to a viewer,
	// Heartbeat the most between two writes to a stream. WriteTimeout ends a viewer that takes
	// nothing.
	DeltaInterval, JoinInterval, ViewerInterval, Heartbeat, WriteTimeout time.Duration
	// Logger receives what happens, without secrets; nil discards it.
	Logger *slog.Logger
	// Shutdown is called when a client asks the server to drain; nil refuses the method.
	Shutdown func()

	// WebhookNetworks are networks that webhooks may call although they are not public.
	// HookCommand is a program that is run for each event, with it on standard input.
	WebhookNetworks []netip.Prefix
	HookCommand     string
	// Supervisor is the path of a parley command below which HookCommand runs on Linux, so that
	// everything which it starts ends with it. Without one that is what is found.
	Supervisor string
	// Push sends messages to browsers that have subscribed, by the push service of each. A key is
	// made in Dir at the first start.
	Push bool
	// PushContact is where a push service can reach who runs the server: mailto: or https:. Some
	// services refuse messages without it.
	PushContact string

	// Preview are the origins at which clients see the servers that agents have started; nil is
	// not at all. The listeners for them are served with ServePreview.
	Preview *preview.Origins

	// TracerProvider makes spans of requests, of turns, and of the waits and tools in them;
	// nil makes none. Nothing that was said is in a span. See docs/operations.md.
	TracerProvider trace.TracerProvider

	// The clock of limits and retries; tests have one of their own.
	now   func() time.Time
	after func(time.Duration) <-chan time.Time
	roots *x509.CertPool // whose certificates receivers have; nil is the system's
}

// Stall is what happens to a turn in which an agent is silent.
type Stall = session.Stall

// Failure is why a request failed, with a reason that programs read.
type Failure = session.Failure

func (o Options) withDefaults() (Options, error) {
	setDefault(&o.MaxAgents, DefaultMaxAgents)
	setDefault(&o.MaxSessions, DefaultMaxSessions)
	setDefault(&o.MaxConnections, DefaultMaxConnections)
	setDefault(&o.MaxBody, DefaultMaxBody)
	setDefault(&o.IdleTimeout, DefaultIdleTimeout)
	setDefault(&o.UnloadAfter, DefaultUnloadAfter)
	setDefault(&o.StartTimeout, DefaultStartTimeout)
	setDefault(&o.CallTimeout, DefaultCallTimeout)
	setDefault(&o.DrainTimeout, DefaultDrainTimeout)
	setDefault(&o.DeltaInterval, DefaultDeltaInterval)
	setDefault(&o.JoinInterval, DefaultJoinInterval)
	setDefault(&o.ViewerInterval, DefaultViewerInterval)
	setDefault(&o.HeaderTimeout, DefaultHeaderTimeout)
	setDefault(&o.Heartbeat, DefaultHeartbeat)
	setDefault(&o.WriteTimeout, DefaultWriteTimeout)
	setDefault(&o.TurnReserve.USD, DefaultTurnReserveUSD)
	setDefault(&o.TurnReserve.Tokens, DefaultTurnReserveTokens)
	setDefault(&o.Version, "dev")
	if o.now == nil {
		o.now = time.Now
	}
	if o.after == nil {
		o.after = time.After
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if len(o.Directories) == 0 {
		dir, err := os.Getwd()
		if err != nil {
			return o, err
		}
		o.Directories = []string{dir}
	}
	var dirs []string
	for _, d := range o.Directories {
		abs, err := filepath.Abs(d)
		if err != nil {
			return o, err
		}
		if abs, err = filepath.EvalSymlinks(abs); err != nil {
			return o, err
		}
		dirs = append(dirs, abs)
	}
	o.Directories = dirs
	return o, nil
}

// defaultMode is the permission mode of sessions that name none.
func (o *Options) defaultMode() string { return cmp.Or(o.DefaultMode, "default") }

// setDefault replaces a zero value.
func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}
