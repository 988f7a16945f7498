package tool

import "github.com/seed7221b0f9/parley/claude/message"

// AgentInput is the input of Agent, which older CLIs call Task. Prompt is the task for the
// subagent.
type AgentInput struct {
	Description     string                 `json:"description"`
	Prompt          string                 `json:"prompt"`
	SubagentType    string                 `json:"subagent_type,omitempty"`
	Model           string                 `json:"model,omitempty"`             // sonnet, opus, haiku, fable
	Effort          string                 `json:"effort,omitempty"`            // low, medium, high, xhigh, max
	RunInBackground *bool                  `json:"run_in_background,omitempty"` // nil: the CLI decides
	Name            string                 `json:"name,omitempty"`
	TeamName        string                 `json:"team_name,omitempty"`
	Mode            message.PermissionMode `json:"mode,omitempty"`
	Isolation       string                 `json:"isolation,omitempty"` // worktree, remote
}

// AgentResult is the result of Agent. Status decides which members are set: the comment of each
// member lists the statuses. The totals of the session already include Usage.
type AgentResult struct {
	Status           string   `json:"status"`                     // completed, async_launched, remote_launched
	Prompt           string   `json:"prompt"`                     // always
	AgentID          string   `json:"agentId,omitempty"`          // completed, async_launched
	ResolvedModel    string   `json:"resolvedModel,omitempty"`    // completed, async_launched
	ModelsUsed       []string `json:"modelsUsed,omitempty"`       // completed, async_launched
	CanContinueAgent bool     `json:"canContinueAgent,omitempty"` // completed, async_launched

	AgentType          string                 `json:"agentType,omitempty"`          // completed
	Content            []message.ContentBlock `json:"content,omitempty"`            // completed: the agent's last message
	TotalToolUseCount  int64                  `json:"totalToolUseCount,omitempty"`  // completed
	TotalDurationMS    int64                  `json:"totalDurationMs,omitempty"`    // completed
	TotalTokens        int64                  `json:"totalTokens,omitempty"`        // completed
	Usage              *message.Usage         `json:"usage,omitempty"`              // completed: of its last request
	ToolsUsed          []string               `json:"toolsUsed,omitempty"`          // completed
	ToolStats          *AgentToolStats        `json:"toolStats,omitempty"`          // completed
	WorktreePath       string                 `json:"worktreePath,omitempty"`       // completed
	WorktreeBranch     string                 `json:"worktreeBranch,omitempty"`     // completed
	HarnessNoteCount   *int64                 `json:"harnessNoteCount,omitempty"`   // completed: blocks of Content before the agent's own
	HarnessTailCount   *int64                 `json:"harnessTailCount,omitempty"`   // completed: blocks of Content after the agent's own
	HarnessSectionHash string                 `json:"harnessSectionHash,omitempty"` // completed

	IsAsync           bool   `json:"isAsync,omitempty"`           // async_launched
	CanReadOutputFile bool   `json:"canReadOutputFile,omitempty"` // async_launched
	Description       string `json:"description,omitempty"`       // async_launched, remote_launched
	OutputFile        string `json:"outputFile,omitempty"`        // async_launched, remote_launched
	TaskID            string `json:"taskId,omitempty"`            // remote_launched
	SessionURL        string `json:"sessionUrl,omitempty"`        // remote_launched
}

// Text returns the text of the agent's last message, with the notes that the CLI adds before and
// after it. It is empty unless Status is completed.
func (r *AgentResult) Text() string { return message.TextOf(r.Content) }

// AgentToolStats counts an agent's tool calls by kind (read, search, edit) and the lines that it
// changed.
type AgentToolStats struct {
	ReadCount      int64  `json:"readCount"`
	SearchCount    int64  `json:"searchCount"`
	BashCount      int64  `json:"bashCount"`
	EditFileCount  int64  `json:"editFileCount"`
	LinesAdded     int64  `json:"linesAdded"`
	LinesRemoved   int64  `json:"linesRemoved"`
	OtherToolCount int64  `json:"otherToolCount"`
	FrameCount     *int64 `json:"frameCount,omitempty"`
}

// ListAgentsInput is the input of ListAgents, which returns the other agents that this one can
// write to.
type ListAgentsInput struct {
	Channel string `json:"channel,omitempty"`
	Q       string `json:"q,omitempty"`
}

// WorkflowInput is the input of Workflow: a script that runs agents, given as a text in Script, by
// its Name, or by its ScriptPath.
type WorkflowInput struct {
	Script          string       `json:"script,omitempty"`
	Name            string       `json:"name,omitempty"`
	Description     string       `json:"description,omitempty"` // the CLI ignores it
	Title           string       `json:"title,omitempty"`       // the CLI ignores it
	Args            message.JSON `json:"args,omitempty"`        // any value
	ScriptPath      string       `json:"scriptPath,omitempty"`
	ResumeFromRunID string       `json:"resumeFromRunId,omitempty"`
}

// WorkflowResult is the result of Workflow, which starts a task: its id, and where the task
// runs.
type WorkflowResult struct {
	Status        string `json:"status"` // async_launched, remote_launched
	TaskID        string `json:"taskId"`
	TaskType      string `json:"taskType,omitempty"` // local_workflow, remote_agent
	WorkflowName  string `json:"workflowName,omitempty"`
	RunID         string `json:"runId,omitempty"`
	Summary       string `json:"summary,omitempty"`
	TranscriptDir string `json:"transcriptDir,omitempty"`
	ScriptPath    string `json:"scriptPath,omitempty"`
	SessionURL    string `json:"sessionUrl,omitempty"`
	Warning       string `json:"warning,omitempty"`
	Error         string `json:"error,omitempty"`
}

// ReportFindingsInput is the input of ReportFindings: the findings of a review, and its effort.
type ReportFindingsInput struct {
	Level    string    `json:"level,omitempty"` // low, medium, high, xhigh, max
	Findings []Finding `json:"findings"`
}

// Finding is one problem that a review found: its place, a description, and how the code fails.
type Finding struct {
	File            string `json:"file"`
	Line            *int64 `json:"line,omitempty"`
	Summary         string `json:"summary"`
	ShortSummary    string `json:"short_summary,omitempty"`
	FailureScenario string `json:"failure_scenario"`
	Category        string `json:"category,omitempty"`
	Verdict         string `json:"verdict,omitempty"` // CONFIRMED, PLAUSIBLE
	Outcome         string `json:"outcome,omitempty"` // fixed, skipped, no_change_needed
}

// ReportFindingsResult is the result of ReportFindings: the number of accepted findings, and the
// findings themselves.
type ReportFindingsResult struct {
	Count    int64     `json:"count"`
	Level    string    `json:"level,omitempty"`
	Findings []Finding `json:"findings"`
}
