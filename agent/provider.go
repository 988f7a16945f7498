package agent

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
)

// Provider starts sessions of one kind of agent, such as Claude or Codex. It is safe for
// concurrent use.
type Provider interface {
	// Name is the provider's name in events and messages: claude, codex, sim, acp:NAME.
	Name() string
	// Open starts an agent with a new session. It returns when the agent can take its
	// first prompt; ctx bounds that and not the session.
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
	ModeUnchosen          bool              // nobody chose Mode: an agent with modes of its own keeps the one that it starts in
	AllowBypass           bool              // bypassPermissions may be entered later
	Thinking              *int64            // the most tokens to think with; nil is the default, 0 is none
	Effort                string            // how hard the model tries; empty is the agent's choice
	SystemPrompt          string            // replaces the agent's own
	AppendSystemPrompt    string            // is added to it
	AllowedTools          []string          // tools that need no permission
	DisallowedTools       []string          // tools that do not exist for the agent
	SettingSources        []string          // nil and empty differ: nil is the agent's default
	MaxTurns              int64             // 0 means no limit
	MaxBudgetUSD          *float64          // nil means no limit
	Partial               bool              // stream deltas as well as whole messages
	MCPServers            json.RawMessage   // by name, in the form of the agent's configuration
	Agents                json.RawMessage   // subagents by name, in the form of the agent's configuration
	Metadata              map[string]string // for logs and traces
	Fork                  bool              // of Resume: continue in a copy with an id of its own
	At                    string            // of Resume: the message after which the copy begins; empty is the end
	ID                    string            // of Open: the session id to use; empty lets the agent choose
	Files                 Files             // is called around the tools that use files; nil is the disk alone
	// OnUsed is called with what each answer of the model used, from any goroutine. It must return
	// at once. Providers without that knowledge never call it; nil is allowed.
	OnUsed func(Used)
	// OnLine is called with every line of JSON that the agent's program writes, unchanged and before
	// its events. Providers of agents without such lines never call it; nil is allowed.
	OnLine func(line json.RawMessage)
}

// Resumer is implemented by a provider whose sessions outlive their process, so that another
// one can continue them.
type Resumer interface {
	// Resume starts an agent that continues the session with this id. It fails with
	// ErrNotFound if there is none and with ErrBusy if another process has it open.
	Resume(ctx context.Context, id string, opts Options) (Session, error)
}

// Entry is a model, a command or a subagent that an agent offers, with all that the agent says
// of it.
type Entry struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Data        json.RawMessage `json:"data,omitempty"` // all that the agent says of it
}

// Catalog is implemented by a session, or by a provider that knows what its agent offers without
// a session. A caller asks the session first.
type Catalog interface {
	// Models returns the models that a session can use.
	Models(ctx context.Context) ([]Entry, error)
	// Commands returns the slash commands of the agent.
	Commands(ctx context.Context) ([]Entry, error)
	// Agents returns the subagents that the agent can start.
	Agents(ctx context.Context) ([]Entry, error)
}

// Usage is what a group of turns used, in tokens and, where it is known, in dollars.
type Usage struct {
	Group                    string
	CostUSD                  *float64 // nil where it is not known
	InputTokens              int64
	OutputTokens             int64
	CacheCreationInputTokens int64
	CacheReadInputTokens     int64
}

// UsageQuery selects usage by project and time, and how it is grouped. Zero times are
// unbounded. A block is the five hours that a short limit counts, named by their beginning
// as RFC 3339 has it; an agent without such a limit has no rows for it.
type UsageQuery struct {
	Project      string
	Since, Until time.Time
	GroupBy      string // day, model, project, block
}

// UsageReporter is implemented by a provider that can add up what its past sessions have used.
type UsageReporter interface {
	// Usage returns one element for each group of the query.
	Usage(ctx context.Context, q UsageQuery) ([]Usage, error)
}

// Delivery is whether an input reached an agent, as far as that can be found out afterwards.
type Delivery int

// What a [Witness] can find out about an input. The zero value is the one to assume if the
// provider is not a Witness.
const (
	DeliveryUnknown Delivery = iota // the agent's files do not show it
	Delivered                       // the agent has received it
	NotDelivered                    // the agent's files prove that it has not
)

// Witness is implemented by a provider whose files show, after a crash, which inputs its agent
// had received.
type Witness interface {
	// Delivered looks for the input with this uuid in the session's files. It answers
	// NotDelivered only where a later write of the same session proves it.
	Delivered(ctx context.Context, sessionID, uuid string) (Delivery, error)
}

// Restorer is implemented by a provider that can get back a session which its agent has deleted.
type Restorer interface {
	// Restorable reports whether there is a copy of the session.
	Restorable(ctx context.Context, sessionID string) bool
	// Restore gives the copy to the agent. The error is ErrNotFound if there is none.
	Restore(ctx context.Context, sessionID string) error
}

// Live describes a session that a process outside of the server has open: which process, and
// since when.
type Live struct {
	PID   int
	Since time.Time
	Entry string // how it was started: cli, sdk, …
}

// LiveFinder is implemented by a provider that can find out whether another process has a session
// open, such as one in a terminal.
type LiveFinder interface {
	// Live returns nil if no other process has the session open.
	Live(ctx context.Context, sessionID string) (*Live, error)
	// ResumeCommand is the command line with which a person continues the session in a
	// terminal.
	ResumeCommand(sessionID string) []string
}

// LiveLister is implemented by a [LiveFinder] that can list all sessions that are open
// elsewhere at once.
type LiveLister interface {
	// LiveSessions returns the sessions that other processes have open, by their id.
	LiveSessions(ctx context.Context) (map[string]Live, error)
}

// Follower is implemented by a provider that can follow a session which another process
// writes.
type Follower interface {
	// Follow yields the session's events from its start and goes on as it grows, until
	// ctx ends.
	Follow(ctx context.Context, sessionID string) iter.Seq2[event.Event, error]
}

// Authenticator is implemented by a provider whose agent keeps a login that can be forgotten.
type Authenticator interface {
	// Logout forgets the login. It is not an error if there is none.
	Logout(ctx context.Context) error
}

// Sweeper is implemented by a provider whose processes could survive a crash of the
// server.
type Sweeper interface {
	// Sweep ends processes that an earlier server with the same data directory has left
	// running, and returns how many it ended. Call it before the first Open.
	Sweep(ctx context.Context) (int, error)
}

// Simulator is implemented by a provider whose agents can be simulated: they follow a script
// and have no model.
type Simulator interface {
	// Simulated reports whether the provider's sessions have no model.
	Simulated() bool
}
