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

// Options configures a session. The zero value uses the CLI's defaults. A nil *Options and
// every zero field mean the default; a field that is not set is not passed to the CLI. Where
// zero, false or empty means something of its own the field is a pointer, or nil and empty
// differ as its comment says. Options are copied when a call takes them and may be shared.
//
// Fields are named after the options of the CLI and the official SDKs.
type Options struct {
	// CLIPath is the CLI to run; "" looks for claude on PATH and in the places
	// where installers put it.
	CLIPath string
	// Executable runs a CLIPath that is a script (.js, .mjs, .ts, .tsx, .jsx):
	// node, the default, bun or deno. ExecutableArgs come before the CLI's own
	// arguments, and before the script where there is one.
	Executable     string
	ExecutableArgs []string
	// Dir is the working directory; "" is the caller's.
	Dir string
	// User is the user that the process runs as, by name; not on Windows.
	User string
	// Env is laid over the caller's environment; with CleanEnv it is the whole
	// environment. CLAUDECODE, NODE_OPTIONS and DEBUG are always removed.
	Env      map[string]string
	CleanEnv bool
	// Isolation shuts out what the caller's machine would bring in.
	Isolation *Isolation
	// ExtraArgs are further flags, without the dashes. A nil value is a flag
	// without one. Every user of the machine can read them, except for settings,
	// mcp-config and the system prompts, which go by file.
	ExtraArgs map[string]*string
	// Transport replaces the process by another wire; Spawner only runs it
	// elsewhere, or here if it is a [spawn.Locality] that reports so. With a Transport the fields that become flags have no effect.
	Transport Transport
	Spawner   spawn.Spawner
	// Supervisor is the path of a parley command. On Linux the CLI then runs below a
	// small process of it, which ends everything that the CLI has started when the CLI
	// ends, also when this process is killed. Without one, what the CLI has left is
	// found by its process group, by its parent and by a mark in its environment: a
	// process in another session with an empty environment (env -i setsid)
	// outlives the CLI. KeepChildren leaves alone what is not in the CLI's process
	// group, a development server for example; there is no supervisor then. Neither
	// has an effect with a Transport or a Spawner.
	Supervisor   string
	KeepChildren bool
	// Tenant is whom the session is for. Admission shares its places fairly
	// between tenants, and a claudepool.Pool gives no process of one to another.
	Tenant string
	// Admission is asked for Weight places, 0 is one, before the process starts;
	// they are given back when it has ended. Registry knows the process while it
	// lives and holds its temporary files.
	Admission Admitter
	Weight    int64
	Registry  *Registry
	// Stderr is called with every line that the CLI writes to stderr, in order,
	// from one goroutine. A slow one never holds up the CLI.
	Stderr func(line string)

	// Model is a model's name or alias; FallbackModel answers when it cannot.
	Model         string
	FallbackModel string
	Betas         []string
	// Effort is low, medium, high, xhigh or max.
	Effort string
	// Thinking configures how much the model thinks. MaxThinkingTokens is the older way: 0
	// turns thinking off.
	Thinking          *Thinking
	MaxThinkingTokens *int
	// MaxTurns bounds the model's steps in a turn, MaxBudgetUSD the cost of the
	// session, TaskBudget its tokens.
	MaxTurns     int
	MaxBudgetUSD *float64
	TaskBudget   *int
	// SystemPrompt: nil is an empty one, not Claude Code's; see [PromptPreset].
	SystemPrompt SystemPrompt
	// JSONSchema makes the answer an object of this schema, in
	// [message.Result.StructuredOutput].
	JSONSchema message.JSON

	// Tools are the built-in tools that exist: nil all, empty none, "default"
	// the default set. AllowedTools run without asking; DisallowedTools do not
	// run.
	Tools           []string
	AllowedTools    []string
	DisallowedTools []string
	ToolAliases     map[string]string
	// message.PermissionMode decides about tools that no rule decides about.
	// AllowDangerouslySkipPermissions lets a session change to
	// bypassPermissions later on.
	PermissionMode                  message.PermissionMode
	AllowDangerouslySkipPermissions bool
	// PermissionPromptToolName is the MCP tool that is asked for permission;
	// PermissionPrompts "none" denies whatever would ask.
	PermissionPromptToolName string
	PermissionPrompts        string
	PlanModeInstructions     string
	// CanUseTool is asked for permission when neither rules nor mode decide. Tools
	// that are allowed by them are not asked about; a warning names those at the
	// start. It and the callbacks below are called from goroutines of their own,
	// several at once. Their context ends when the CLI takes its request back,
	// which it does on an interrupt, and when the session is closed. An error or a panic is
	// reported to the CLI, and the tool does not run. See [ErrAnswerLater].
	CanUseTool func(ctx context.Context, req *PermissionRequest) (PermissionResult, error)
	// OnQuestion is asked the agent's questions, OnPlan whether its plan is
	// approved; without them CanUseTool is.
	OnQuestion func(ctx context.Context, req *QuestionRequest) (*QuestionAnswer, error)
	OnPlan     func(ctx context.Context, req *PlanRequest) (*PlanDecision, error)
	// OnElicitation is asked what MCP servers want of the user; without it they
	// are declined. OnUserDialog shows dialogs of the CLI of these kinds alone.
	OnElicitation        func(ctx context.Context, req *ElicitationRequest) (*ElicitationResult, error)
	OnUserDialog         func(ctx context.Context, req *UserDialogRequest) (*UserDialogResult, error)
	SupportedDialogKinds []string
	// Guard sees every call of every tool before it runs, whatever mode, rules and
	// other hooks say, and refuses it or, with nil, leaves it to them. One that
	// fails, or takes longer than the CLI waits, refuses. It is a hook, called from
	// goroutines of their own, several at once.
	Guard func(ctx context.Context, req *GuardRequest) (*Deny, error)
	// AdditionalDirectories may be used beside Dir.
	AdditionalDirectories []string
	ProjectConfigRoot     string
	// MCPServers are MCP servers, outside of this process and in it, by name: the
	// model knows their tools as mcp__name__tool. StrictMCPConfig leaves out the
	// ones that settings name.
	MCPServers      map[string]MCPServer
	StrictMCPConfig bool
	// RequireMCP are the servers that must be connected before the first prompt,
	// by name, wherever they are defined. Connect and Query wait for them up to MCPTimeout; the
	// error is a *[MCPNotReadyError].
	RequireMCP []string

	// Hooks are called by the CLI when something happens; see [hook.Func].
	Hooks *hook.Hooks

	// Skills are the skills that may be used without asking, by name; nil says
	// nothing about them. AllSkills is all of them.
	Skills    []string
	AllSkills bool
	// Plugins are loaded by flags, or with PluginsByInitialize by the handshake.
	Plugins        []Plugin
	PluginDelivery PluginDelivery

	// Agent is the agent that the main conversation runs as; Agents are further
	// ones, by name.
	Agent  string
	Agents map[string]AgentDefinition

	// Continue goes on with the newest session of Dir, Resume with the one that
	// has this id or title; ForkSession does so in a new session.
	Continue    bool
	Resume      string
	ForkSession bool
	// ResumeSessionAt resumes up to the message of this uuid; ResumeDropsTurn
	// drops the turn of this prompt.
	ResumeSessionAt string
	ResumeDropsTurn *string
	// SessionID is the id of the new session, a UUID.
	SessionID string
	// PersistSession false keeps the session out of the CLI's history.
	PersistSession *bool
	// Title names a new session.
	Title string
	// SessionStore gets everything that the CLI writes to its transcripts, and
	// is what Resume and Continue look into; see [SessionStore].
	SessionStore      SessionStore
	SessionStoreFlush StoreFlush
	// SessionLock selects what happens when another process writes the session.
	SessionLock LockPolicy

	// Settings are a file's path or JSON. Sandbox is laid over the sandbox
	// settings in them, which then must be JSON. SettingSources are user, project and
	// local: nil all of them, empty none. ManagedSettings can only restrict.
	Settings        string
	Sandbox         *Sandbox
	SettingSources  []string
	ManagedSettings message.JSON
	// EnableFileCheckpointing keeps what rewinding files needs.
	EnableFileCheckpointing bool
	// QuestionPreviewFormat is markdown or html.
	QuestionPreviewFormat string

	// IncludePartialMessages asks for [message.StreamEvent]s, IncludeHookEvents
	// for messages about command hooks, ForwardSubagentText for subagents' text.
	IncludePartialMessages bool
	IncludeHookEvents      bool
	ForwardSubagentText    bool
	PromptSuggestions      bool
	AgentProgressSummaries bool
	PerTaskStopAffordance  bool
	// VerbatimPrompts sends every prompt as it is: no @file, no slash command.
	VerbatimPrompts bool
	// Debug makes the CLI talkative on stderr, DebugFile in a file.
	Debug     bool
	DebugFile string

	// StrictLines makes a line that is not a JSON object the end of the stream.
	StrictLines bool
	// MaxLine bounds one line; 0 is 256 MiB. A longer one becomes a [message.BadLine].
	MaxLine int
	// MaxBuffered bounds the bytes that wait for a slow reader; 0 is 256 MiB.
	// At it reading stops until the reader goes on; nothing is dropped.
	MaxBuffered int

	Deadlines
	// Trace is called for the events of the session; see [Trace].
	Trace *Trace
	// Logger gets warnings and, at the level debug, how the CLI is started and
	// ends; nil is [slog.Default]. Secrets are taken out of what is logged.
	Logger *slog.Logger
}

// Deadlines are the times after which this package stops waiting for the CLI.
// 0 is the default; a negative one waits for ever.
type Deadlines struct {
	// HandshakeTimeout is for the answer to initialize: 60 s, in which the time
	// that hooks of the session's start take is not counted, up to 10 min.
	HandshakeTimeout time.Duration
	// ControlTimeout is for the answer to a control request, beside the
	// caller's context: none.
	ControlTimeout time.Duration
	// MCPTimeout is for the servers of RequireMCP to be connected: 30 s.
	MCPTimeout time.Duration
	// WriteTimeout is for the CLI to take one line: 60 s.
	WriteTimeout time.Duration
	// FirstMessageTimeout is from a prompt, or from the end of the turn before
	// it, to the first message of its turn; SilenceTimeout is from one line to
	// the next in a turn. Both are none. Neither counts while the CLI waits for
	// this process: a permission, a hook, a tool. A call that exceeds one fails with a
	// *[StalledError]: Query and Run stop the CLI; a Client's turn ends with it and is
	// interrupted, and the session goes on.
	FirstMessageTimeout time.Duration
	SilenceTimeout      time.Duration
	// RunEndTimeout is from a result to the end of the background tasks that a
	// prompt has left, during which the input stays open: 10 min.
	RunEndTimeout time.Duration
	// ExitTimeout is from the end of the input and of the last turn, or from the
	// end of the CLI's output, to its exit: 10 s. After it the CLI is stopped,
	// and Query ends with a *[StalledError]; to Run a result in hand is enough.
	// Tasks in the background have RunEndTimeout first.
	ExitTimeout time.Duration
	// LoadTimeout is for a SessionStore to load one transcript: 60 s.
	LoadTimeout time.Duration
	// InterruptGrace is for the CLI to answer the interrupt that stopping begins
	// with while a turn runs: 2 s. One that does not answer, or that cannot be
	// asked, gets SIGTERM without CloseGrace.
	InterruptGrace time.Duration
	// CloseGrace, TermGrace and KillGrace are the steps of stopping the CLI: from
	// the end of its input to SIGTERM, 2 s; from there to SIGKILL, 5 s; from
	// there to giving up, 5 s.
	CloseGrace time.Duration
	TermGrace  time.Duration
	KillGrace  time.Duration
	// DrainTimeout is how long Send waits for a turn that was broken off: 30 s.
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

// clone is a copy that the caller's changes do not reach; nil gives the defaults.
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
