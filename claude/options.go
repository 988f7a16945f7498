package claude

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/spawn"
)

// Options configures a session. The zero value uses the CLI's defaults. A nil *Options and every zero field mean the default; unset
// fields are not passed to the CLI. If zero, false or empty is a distinct value, the field is a pointer, or its comment describes
// how nil and empty differ. Every call copies its Options, so they may be shared.
//
// Fields are named after the options of the CLI and the official SDKs.
type Options struct {
	// CLIPath is the CLI to run; "" searches for claude on PATH and in the directories of installers.
	CLIPath string
	// Executable runs a CLIPath that is a script (.js, .mjs, .ts, .tsx, .jsx): node, the default, bun or deno. ExecutableArgs
	// precede the CLI's arguments, and the script if there is one.
	Executable     string
	ExecutableArgs []string
	// Dir is the working directory; "" means the caller's.
	Dir string
	// User is the user that the process runs as, by name; not on Windows.
	User string
	// Env adds to and overrides the caller's environment; with CleanEnv it is the whole environment. CLAUDECODE, NODE_OPTIONS and
	// DEBUG are always removed.
	Env      map[string]string
	CleanEnv bool
	// Isolation separates the session from the caller's machine.
	Isolation *Isolation
	// ExtraArgs are further flags, without the dashes. A nil value means a flag without a value. Every user of the machine can read
	// them, except for settings, mcp-config and the system prompts, which are passed in files.
	ExtraArgs map[string]*string
	// Transport replaces the process by another connection, and fields that become flags then have no effect. Spawner
	// runs the process elsewhere, or on this machine if it is a [spawn.Locality] that reports so.
	Transport Transport
	Spawner   spawn.Spawner
	// Supervisor is the path of a parley command. On Linux the CLI then runs below a small parley process, which ends all
	// descendants of the CLI when the CLI ends, even if this process is killed. Without it, this package finds leftover processes
	// by their process group, their parent and a mark in their environment: a process in another session with an empty environment
	// (env -i setsid) outlives the CLI. KeepChildren spares processes outside of the CLI's process group, such as a development
	// server, and disables the supervisor. Neither has an effect with a Transport or a Spawner.
	Supervisor   string
	KeepChildren bool
	// Tenant is the owner of the session. Admission shares its places fairly between tenants, and a claudepool.Pool never uses a
	// process for two tenants.
	Tenant string
	// Admission limits the processes: the session acquires Weight places (0 means 1) before its process starts and releases them
	// when it has ended. Registry records the process while it runs and holds its temporary files.
	Admission Admitter
	Weight    int64
	Registry  *Registry
	// Stderr is called with every line of the CLI's standard error, in order, from one goroutine. A slow function does not block
	// the CLI.
	Stderr func(line string)

	// Model is the name or alias of the model; FallbackModel is used when Model is not available.
	Model         string
	FallbackModel string
	Betas         []string
	// Effort is low, medium, high, xhigh or max.
	Effort string
	// Thinking configures how much the model thinks. MaxThinkingTokens is the older option: 0 disables thinking.
	Thinking          *Thinking
	MaxThinkingTokens *int
	// MaxTurns limits the model's steps in a turn, MaxBudgetUSD the cost of the session, TaskBudget its tokens.
	MaxTurns     int
	MaxBudgetUSD *float64
	TaskBudget   *int
	// SystemPrompt is the system prompt; nil means an empty one, not Claude Code's; see [PromptPreset].
	SystemPrompt SystemPrompt
	// JSONSchema makes the answer an object of this schema, in
	// [message.Result.StructuredOutput].
	JSONSchema message.JSON

	// Tools are the available built-in tools: nil means all, empty none, "default" the default set. AllowedTools run without
	// asking; DisallowedTools do not run.
	Tools           []string
	AllowedTools    []string
	DisallowedTools []string
	ToolAliases     map[string]string
	// PermissionMode decides tool calls that no rule matches. AllowDangerouslySkipPermissions permits a later change to
	// bypassPermissions.
	PermissionMode                  message.PermissionMode
	AllowDangerouslySkipPermissions bool
	// PermissionPromptToolName is the MCP tool that decides permission requests; PermissionPrompts "none" denies all calls that
	// would ask.
	PermissionPromptToolName string
	PermissionPrompts        string
	PlanModeInstructions     string
	// CanUseTool decides tool calls that neither rules nor the mode decide. It is not called for tools that they allow; a warning
	// at the start lists those. It and the callbacks below are called in new goroutines, several at once. Their context ends when
	// the CLI cancels its request, which it does on an interrupt, and when the session is closed. An error or a panic is reported
	// to the CLI, and the tool does not run. See [ErrAnswerLater].
	CanUseTool func(ctx context.Context, req *PermissionRequest) (PermissionResult, error)
	// OnQuestion answers the agent's questions, OnPlan approves its plans; without them CanUseTool is called.
	OnQuestion func(ctx context.Context, req *QuestionRequest) (*QuestionAnswer, error)
	OnPlan     func(ctx context.Context, req *PlanRequest) (*PlanDecision, error)
	// OnElicitation answers requests of MCP servers to the user; without it they are declined. OnUserDialog shows dialogs of the
	// CLI, only of these kinds.
	OnElicitation        func(ctx context.Context, req *ElicitationRequest) (*ElicitationResult, error)
	OnUserDialog         func(ctx context.Context, req *UserDialogRequest) (*UserDialogResult, error)
	SupportedDialogKinds []string
	// Guard is called before every tool call, regardless of mode, rules and other hooks. It refuses the call or, by returning nil,
	// leaves the decision to them. A Guard that fails, or exceeds the CLI's time limit, refuses the call. It is a hook and is
	// called in new goroutines, several at once.
	Guard func(ctx context.Context, req *GuardRequest) (*Deny, error)
	// AdditionalDirectories are directories that tools may use in addition to Dir.
	AdditionalDirectories []string
	ProjectConfigRoot     string
	// MCPServers are MCP servers by name, in this process or outside of it. Their tools have names of the form mcp__name__tool.
	// StrictMCPConfig ignores the servers of settings.
	MCPServers      map[string]MCPServer
	StrictMCPConfig bool
	// RequireMCP are the names of servers that must be connected before the first prompt, regardless of where they are defined.
	// Connect and Query wait for them up to MCPTimeout; the error is a *[MCPNotReadyError].
	RequireMCP []string

	// Hooks are functions that the CLI calls for its events; see [hook.Func].
	Hooks *hook.Hooks
	// MaxAbsence is the longest time that the CLI may have to wait while no process answers it,
	// which can happen under a host. It is added to the timeout that the CLI has for each hook. 0
	// means that the CLI ends with this process.
	MaxAbsence time.Duration

	// Skills are the skills that may be used without asking, by name; nil leaves them unset. AllSkills allows all skills.
	Skills    []string
	AllSkills bool
	// Plugins are passed as flags, or in the handshake with PluginsByInitialize.
	Plugins        []Plugin
	PluginDelivery PluginDelivery

	// Agent is the agent of the main conversation; Agents defines further ones, by name.
	Agent  string
	Agents map[string]AgentDefinition

	// Continue resumes the newest session of Dir, Resume the session with this id or title; ForkSession continues in a new session.
	Continue    bool
	Resume      string
	ForkSession bool
	// ResumeSessionAt resumes up to the message with this uuid; ResumeDropsTurn drops the turn of the prompt with this uuid.
	ResumeSessionAt string
	ResumeDropsTurn *string
	// SessionID is the id of a new session, a UUID.
	SessionID string
	// PersistSession excludes the session from the CLI's history if it is false.
	PersistSession *bool
	// Title is the title of a new session.
	Title string
	// SessionStore receives all transcript entries of the CLI, and Resume and Continue load sessions from it; see [SessionStore].
	SessionStore      SessionStore
	SessionStoreFlush StoreFlush
	// SessionLock selects the behavior if another process writes the session.
	SessionLock LockPolicy

	// Settings is the path of a settings file, or JSON. Sandbox overrides the sandbox settings in it, and then Settings must be
	// JSON. SettingSources are user, project and local: nil means all, empty none. ManagedSettings can only restrict.
	Settings        string
	Sandbox         *Sandbox
	SettingSources  []string
	ManagedSettings message.JSON
	// EnableFileCheckpointing keeps the file versions that [Client.RewindFiles] needs.
	EnableFileCheckpointing bool
	// QuestionPreviewFormat is markdown or html.
	QuestionPreviewFormat string

	// IncludePartialMessages enables [message.StreamEvent]s, IncludeHookEvents messages about command hooks, ForwardSubagentText
	// the text of subagents.
	IncludePartialMessages bool
	IncludeHookEvents      bool
	ForwardSubagentText    bool
	PromptSuggestions      bool
	AgentProgressSummaries bool
	PerTaskStopAffordance  bool
	// VerbatimPrompts sends prompts unchanged: @file and slash commands are not expanded.
	VerbatimPrompts bool
	// Debug enables debug output on stderr, DebugFile in a file.
	Debug     bool
	DebugFile string

	// StrictLines ends the stream at a line that is not a JSON object.
	StrictLines bool
	// MaxLine is the maximum length of a line in bytes; 0 means 256 MiB. A longer line becomes a [message.BadLine].
	MaxLine int
	// MaxBuffered limits the bytes that wait for a slow consumer; 0 means 256 MiB. At the limit this package stops reading the
	// CLI's output until the consumer continues; no message is dropped.
	MaxBuffered int

	Deadlines
	// Trace is called for the events of the session; see [Trace].
	Trace *Trace
	// Logger receives warnings and, at level debug, the start and the end of the CLI; nil means [slog.Default]. Secrets are
	// redacted.
	Logger *slog.Logger
}

// Deadlines are the times after which this package stops waiting for the CLI. 0 means the default; a negative value means no limit.
type Deadlines struct {
	// HandshakeTimeout limits the wait for the answer to initialize. The default is 60 s, plus up to 10 min for hooks that run at
	// the start of the session.
	HandshakeTimeout time.Duration
	// ControlTimeout limits the wait for the answer to a control request, in addition to the caller's context. The default is no
	// limit.
	ControlTimeout time.Duration
	// MCPTimeout limits the wait for the servers of RequireMCP. The default is 30 s.
	MCPTimeout time.Duration
	// WriteTimeout limits the time in which the CLI must read one line. The default is 60 s.
	WriteTimeout time.Duration
	// FirstMessageTimeout limits the time from a prompt, or from the end of the turn before it, to the first message of its turn;
	// SilenceTimeout limits the time between two lines of a turn. The default of both is no limit. Neither counts while the CLI
	// waits for this process: a permission, a hook, a tool. A call that exceeds one fails with a *[StalledError]: Query and Run
	// stop the CLI; a Client interrupts the turn, which ends with the error, and the session continues.
	FirstMessageTimeout time.Duration
	SilenceTimeout      time.Duration
	// RunEndTimeout limits the time from a result to the end of the background tasks that a prompt has started, during which the
	// input stays open. The default is 10 min.
	RunEndTimeout time.Duration
	// ExitTimeout limits the time from the end of the input and of the last turn, or from the end of the CLI's output, to its exit.
	// The default is 10 s. Then the CLI is stopped, and Query ends with a *[StalledError]; Run returns a result that it already
	// has. Background tasks first get RunEndTimeout.
	ExitTimeout time.Duration
	// LoadTimeout limits the time in which a SessionStore must load one transcript. The default is 60 s.
	LoadTimeout time.Duration
	// InterruptGrace limits the wait for the answer to the interrupt with which stopping begins while a turn runs. The default is 2
	// s. A CLI that does not answer, or cannot be asked, gets SIGTERM without CloseGrace.
	InterruptGrace time.Duration
	// CloseGrace, TermGrace and KillGrace are the steps of stopping the CLI: from the end of its input to SIGTERM, by default 2 s;
	// from there to SIGKILL, by default 5 s; from there to giving up, by default 5 s.
	CloseGrace time.Duration
	TermGrace  time.Duration
	KillGrace  time.Duration
	// DrainTimeout is how long Send waits for an abandoned turn. The default is 30 s.
	DrainTimeout time.Duration
}

// The defaults of Deadlines.
const (
	defaultHandshake = 60 * time.Second
	defaultWrite     = 60 * time.Second
	defaultRunEnd    = 10 * time.Minute
	defaultDrain     = 30 * time.Second
	defaultExit      = 10 * time.Second
	defaultInterrupt = 2 * time.Second
)

// Clone returns a copy that is independent of later changes to o; nil gives the defaults.
func (o *Options) Clone() *Options {
	if o == nil {
		return &Options{}
	}
	c := *o
	c.Env = maps.Clone(o.Env)
	c.ExtraArgs = maps.Clone(o.ExtraArgs)
	c.ToolAliases = maps.Clone(o.ToolAliases)
	c.MCPServers = maps.Clone(o.MCPServers)
	c.Agents = maps.Clone(o.Agents)
	for _, list := range []*[]string{&c.Betas, &c.Tools, &c.AllowedTools, &c.DisallowedTools, &c.AdditionalDirectories, &c.SettingSources, &c.Skills, &c.ExecutableArgs, &c.SupportedDialogKinds, &c.RequireMCP} {
		*list = slices.Clone(*list)
	}
	c.Plugins = slices.Clone(o.Plugins)
	c.Hooks = o.Hooks.Clone()
	return &c
}
