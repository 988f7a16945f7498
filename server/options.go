package server

import (
	"cmp"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/budget"
	"github.com/seed7221b0f9/parley/server/cluster"
	"github.com/seed7221b0f9/parley/server/preview"
	"github.com/seed7221b0f9/parley/server/session"
)

// The defaults of [Options]. Sizes are in bytes.
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

// Options configures a server. Providers and Store are required; every other zero field has a safe
// default.
type Options struct {
	// Providers are the agents that sessions can have. The first is the default.
	Providers []agent.Provider
	// Simulated reports that the default provider is not a real agent.
	Simulated bool
	// Docs serves the documentation at /docs/ to everyone. Nil disables it.
	Docs http.Handler
	// Store holds the logs of the sessions. The server does not close it.
	Store *eventlog.Store
	// Cluster makes this server one of several on the cluster of Store; nil means a single server. The server does not
	// close it.
	Cluster *cluster.Cluster
	// Dir is the directory of tokens and uploads. It is created with mode 0700.
	Dir string
	// Limits are the size limits in bytes by kind of data: logs, uploads, worktrees. Data over a
	// limit is deleted, oldest first, unless it is in use: sessions with their logs and uploads,
	// then uploads, and worktrees without uncommitted work. Data without a limit is never deleted.
	Limits map[string]int64
	// Archive is the directory of the user's archive of sessions. It is only measured, and may be
	// empty.
	Archive string
	// Version is the server's version in its reports.
	Version string
	// Directories are the directories that sessions may run in, including subdirectories; empty is
	// only the current directory.
	Directories []string
	// DefaultModel and DefaultMode are the defaults of sessions. An empty DefaultMode means
	// "default", except for an agent with modes, which keeps its initial one.
	DefaultModel, DefaultMode string
	// AllowBypass allows sessions without permissions. If it is off, bypassPermissions is rejected.
	AllowBypass bool
	// Boxes configures the boxes that agents run in. A session in a box without a network and without credentials may run without
	// permissions also without AllowBypass.
	Boxes Boxes
	// Env is the complete environment of agents, as KEY=value. See [AgentEnv].
	Env []string
	// APIKey is a key that agents use without having it: a loopback proxy adds it to their requests
	// to APIUpstream, which is Anthropic's API if empty. See package keyproxy. It is for agents
	// with a provider that is an [agent.KeyProxied]; others use Env.
	APIKey, APIUpstream string
	// Budgets are limits while the server runs, in addition to those that clients set.
	Budgets []budget.Limit
	// TurnReserve is the minimum that a turn reserves of its budgets, in dollars and in tokens. A
	// turn waits while others have reserved its budget.
	TurnReserve budget.Amount
	// Price returns the cost of an answer in dollars, false if unknown. Without it budgets in
	// dollars count the agents' reports at the end of a turn.
	Price func(agent.Used) (float64, bool)
	// Tenant returns the configuration for the sessions of a tenant; it is called once per name. If
	// it is nil, they run with Providers and Env, and tenants can neither list nor resume the
	// agents' sessions on disk.
	Tenant func(name string) (Tenant, error)
	// GitEnv is the environment from which an allow-list selects git's; nil means the environment
	// of this process. Setup commands of workspaces get Env.
	GitEnv []string
	// TrustGit are hashes of [workspace.Programs] that git may run although an agent can write
	// them. If git needs another program, the log contains its hash.
	TrustGit []string

	// AllowedHosts are host names that requests may name in addition to loopback ones, with or
	// without a port. AllowedOrigins are origins of pages that may call in addition to the
	// server's, as scheme://host:port.
	AllowedHosts, AllowedOrigins []string
	// TrustedProxies are addresses or networks with an X-Forwarded-For header that counts.
	TrustedProxies []string
	// SecureCookies restricts cookies to HTTPS. Set it when the server or its proxy uses TLS.
	SecureCookies bool
	// MaxConnections limits open sockets and streams, MaxBody the bytes of a request. HeaderTimeout
	// is the time limit for a client to send the header of a request.
	MaxConnections int
	MaxBody        int64
	HeaderTimeout  time.Duration

	// MaxAgents is the number of agents that run concurrently; more wait in a fair queue.
	// MaxSessions is the maximum number of sessions.
	MaxAgents, MaxSessions int
	// IdleTimeout is the time after which an idle agent is ended; its session stays and resumes
	// with the next input. Negative is never.
	IdleTimeout time.Duration
	// UnloadAfter is the time after which a session without agent and viewers is unloaded from memory.
	UnloadAfter time.Duration
	// Host runs the agents of an [agent.Adopter] so that they survive the server; nil ends all
	// agents with the server. It has no effect on Close and Drain; see [ErrLeave].
	Host *session.Host
	// StartTimeout bounds the start of an agent, CallTimeout a call to one, DrainTimeout the wait
	// for running turns at the end.
	StartTimeout, CallTimeout, DrainTimeout time.Duration
	// Stall is the policy for a silent turn.
	Stall Stall

	// DeltaInterval is the interval at which deltas are saved. JoinInterval is the maximum time
	// that a delta waits to be joined with others of its block; a delta that arrives later than
	// that after the last one does not wait. ViewerInterval is the minimum time between two writes
	// to a viewer, Heartbeat the maximum between two writes to a stream. WriteTimeout disconnects a
	// viewer that does not read.
	DeltaInterval, JoinInterval, ViewerInterval, Heartbeat, WriteTimeout time.Duration
	// Logger receives log records, without secrets; nil discards them.
	Logger *slog.Logger
	// Shutdown is called when a client requests a drain; nil rejects the method.
	Shutdown func()

	// WebhookNetworks are non-public networks that webhooks may call. HookCommand is a program that
	// is run for each event, with the event on standard input.
	WebhookNetworks []netip.Prefix
	HookCommand     string
	// Supervisor is the path of a parley command below which HookCommand runs on Linux, so that
	// everything that it starts ends with it. Without it, only the processes that can be found end.
	Supervisor string
	// Push sends messages to subscribed browsers, through the push service of each. A key is
	// created in Dir at the first start.
	Push bool
	// PushContact is the operator's address for push services: mailto: or https:. Some services
	// reject messages without it.
	PushContact string

	// Preview are the origins at which clients see the servers that agents have started; nil
	// disables previews. Their listeners are served with ServePreview.
	Preview *preview.Origins

	// TracerProvider creates spans of requests, of turns, and of the waits and tools in them; nil
	// disables tracing. Spans contain no text of the conversation. See docs/operations.md.
	TracerProvider trace.TracerProvider

	// The clock of limits and retries; tests replace it.
	now   func() time.Time
	after func(time.Duration) <-chan time.Time
	roots *x509.CertPool // certificates of webhook receivers; nil means the system's
}

// Stall is the policy for a turn with a silent agent.
type Stall = session.Stall

// Failure is the error of a request, with a reason for programs.
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

// defaultMode returns the default permission mode of sessions.
func (o *Options) defaultMode() string { return cmp.Or(o.DefaultMode, "default") }

// setDefault replaces a zero value.
func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}
