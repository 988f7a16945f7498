package agent

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/spawn"
)

// Provider starts sessions of one kind of agent, such as Claude or Codex. It is safe for
// concurrent use.
type Provider interface {
	// Name returns the provider's name in events and messages: claude, codex, sim, acp:NAME.
	Name() string
	// Open starts an agent with a new session. It returns when the agent can accept its first
	// prompt; ctx bounds the start, not the session.
	Open(ctx context.Context, opts Options) (Session, error)
}

// Options configures a session of any agent. The zero value uses the defaults of the agent.
type Options struct {
	Dir                   string            // the working directory, absolute
	AdditionalDirectories []string          // further directories that tools may use
	Env                   []string          // the complete environment of the agent, as KEY=value
	Model                 string            // empty is the agent's default
	FallbackModel         string            // used when Model is overloaded
	Mode                  string            // the permission mode; empty is default
	ModeUnchosen          bool              // Mode is a default: an agent with modes keeps its initial one
	AllowBypass           bool              // bypassPermissions may be selected later
	Thinking              *int64            // the limit of thinking tokens; nil is the default, 0 disables thinking
	Effort                string            // the effort of the model; empty is the agent's choice
	SystemPrompt          string            // replaces the agent's prompt
	AppendSystemPrompt    string            // appended to it
	AllowedTools          []string          // tools that need no permission
	DisallowedTools       []string          // tools removed from the agent
	SettingSources        []string          // nil and empty differ: nil is the agent's default
	MaxTurns              int64             // 0 means no limit
	MaxBudgetUSD          *float64          // nil means no limit
	Partial               bool              // stream deltas in addition to complete messages
	MCPServers            json.RawMessage   // by name, in the form of the agent's configuration
	Agents                json.RawMessage   // subagents by name, in the form of the agent's configuration
	Metadata              map[string]string // for logs and traces
	Fork                  bool              // for Resume: continue in a copy with a new id
	At                    string            // for Resume: the message after which the copy starts; empty is the end
	ID                    string            // for Open: the session id to use; if empty, the agent chooses one
	Files                 Files             // called around tools that use files; nil is the disk alone
	// Spawner starts the process of the agent; nil is the provider's default. Providers that do not implement [Adopter] ignore it.
	Spawner spawn.Spawner
	// Keeper runs the commands that an agent under a host requests, so that they outlive this program like the agent.
	// If it is nil, such an agent is not offered terminals.
	Keeper Keeper
	// MaxAbsence is how long an agent under a host may have to wait for a program that answers its
	// requests. 0 means that the agent ends with this program.
	MaxAbsence time.Duration
	// Sandbox is the kind of box that the session asks for; empty is the server's choice.
	Sandbox string
	// Box returns a spawner that starts the process of the agent in a box, with next or, if next is
	// nil, on this machine. A nil Box means no box. Only a provider that implements [Boxable]
	// supports boxes.
	Box func(next spawn.Spawner) spawn.Spawner
	// OnUsed is called with the usage of each answer of the model, from any goroutine. It must
	// return at once. Providers without that data never call it; nil is allowed.
	OnUsed func(Used)
	// OnLine is called with every JSON line of the agent's program, unchanged and before its events.
	// Providers of agents without such lines never call it; nil is allowed.
	OnLine func(line json.RawMessage)
}

// Resumer is implemented by a provider with sessions that survive their process, so that another
// one can continue them.
type Resumer interface {
	// Resume starts an agent that continues the session with this id. It fails with ErrNotFound if
	// the session does not exist and with ErrBusy if another process has it open.
	Resume(ctx context.Context, id string, opts Options) (Session, error)
}

// ModelReporter is implemented by a session that knows which model it uses before the first answer.
type ModelReporter interface {
	// Model returns the model that the configuration of the agent selects, under its name in the catalog if it has one; empty is the
	// default.
	Model(ctx context.Context) (string, error)
}

// MCPHost is implemented by a provider if its agent supports only some kinds of MCP servers.
type MCPHost interface {
	// MCPTransports returns the kinds of servers that Options.MCPServers may have: of stdio, http and sse.
	MCPTransports() []string
}

// Entry is a model, a command or a subagent that an agent offers, with the agent's description.
type Entry struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Data        json.RawMessage `json:"data,omitempty"` // the agent's complete description
}

// Catalog is implemented by a session, or by a provider that can list its agent's offers without a
// session. A caller uses the session first.
type Catalog interface {
	// Models returns the models that a session can use.
	Models(ctx context.Context) ([]Entry, error)
	// Commands returns the slash commands of the agent.
	Commands(ctx context.Context) ([]Entry, error)
	// Agents returns the subagents that the agent can start.
	Agents(ctx context.Context) ([]Entry, error)
}

// Usage is the usage of a group of turns, in tokens and, if known, in dollars.
type Usage struct {
	Group                    string
	CostUSD                  *float64 // nil if unknown
	InputTokens              int64
	OutputTokens             int64
	CacheCreationInputTokens int64
	CacheReadInputTokens     int64
}

// UsageQuery selects usage by project and time, and its grouping. Zero times are unlimited. A block
// is the five hours of a short limit, named by its start in RFC 3339; an agent without such a limit
// has no rows for it.
type UsageQuery struct {
	Project      string
	Since, Until time.Time
	GroupBy      string // day, model, project, block
}

// UsageReporter is implemented by a provider that can add up the usage of its past sessions.
type UsageReporter interface {
	// Usage returns one element for each group of the query.
	Usage(ctx context.Context, q UsageQuery) ([]Usage, error)
}

// Delivery reports whether an input reached an agent, as far as that can be determined afterwards.
type Delivery int

// The results of a [Witness] about an input. Assume the zero value if the provider is not a
// Witness.
const (
	DeliveryUnknown Delivery = iota // the agent's files do not show it
	Delivered                       // the agent has received it
	NotDelivered                    // the agent's files prove that it has not
)

// Witness is implemented by a provider with files that show, after a crash, which inputs its agent
// had received.
type Witness interface {
	// Delivered searches the session's files for the input with this uuid. It returns NotDelivered
	// only if a later write of the same session proves it.
	Delivered(ctx context.Context, sessionID, uuid string) (Delivery, error)
}

// Restorer is implemented by a provider that can restore a session that its agent has deleted.
type Restorer interface {
	// Restorable reports whether a copy of the session exists.
	Restorable(ctx context.Context, sessionID string) bool
	// Restore returns the copy to the agent. The error is ErrNotFound without a copy.
	Restore(ctx context.Context, sessionID string) error
}

// Measurer is implemented by a provider with agents that keep each session in a file which only grows.
type Measurer interface {
	// Measure returns the size of the session's file. With read it counts only the lines that can be read.
	Measure(ctx context.Context, sessionID string, read bool) (int64, error)
}

// Mirrored is implemented by a provider that can copy its sessions to a store that several machines share, so that the
// agent of another machine can continue them. The calls for one session must not overlap. Without such a store they have
// no effect.
type Mirrored interface {
	// Mirror copies the data that the agent's files have gained for a session since the last call. dir is the
	// working directory of the session.
	Mirror(ctx context.Context, sessionID, dir string) error
	// Fetch writes the agent's files of a session from the copy, unless they have all of it. The error is ErrNotFound if
	// there is no copy.
	Fetch(ctx context.Context, sessionID, dir string) error
}

// Live describes a session that a process outside of the server has open: the process, and the
// start time.
type Live struct {
	PID   int
	Since time.Time
	Entry string // how it was started: cli, sdk, …
}

// LiveFinder is implemented by a provider that can detect whether another process has a session
// open, such as one in a terminal.
type LiveFinder interface {
	// Live returns nil if no other process has the session open.
	Live(ctx context.Context, sessionID string) (*Live, error)
	// ResumeCommand returns the command line with which a person continues the session in a
	// terminal.
	ResumeCommand(sessionID string) []string
}

// LiveLister is implemented by a [LiveFinder] that can list all sessions that other processes have
// open.
type LiveLister interface {
	// LiveSessions returns the sessions that other processes have open, by id.
	LiveSessions(ctx context.Context) (map[string]Live, error)
}

// Follower is implemented by a provider that can follow a session that another process writes.
type Follower interface {
	// Follow yields the session's events from its start and continues as it grows, until ctx ends.
	Follow(ctx context.Context, sessionID string) iter.Seq2[event.Event, error]
}

// Authenticator is implemented by a provider with an agent that stores a login.
type Authenticator interface {
	// Logout deletes the login. Without a login it returns nil.
	Logout(ctx context.Context) error
}

// Sweeper is implemented by a provider with processes that could survive a crash of the server.
type Sweeper interface {
	// Sweep kills processes that an earlier server with the same data directory has left running,
	// and returns their number. Call it before the first Open.
	Sweep(ctx context.Context) (int, error)
}

// Simulator is implemented by a provider of simulated agents: they follow a script and have no
// model.
type Simulator interface {
	// Simulated reports whether the provider's sessions have no model.
	Simulated() bool
}
