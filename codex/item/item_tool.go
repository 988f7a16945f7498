package item

// Status values of turns and of items that run: commands, patches, tool calls. Which of
// them occur depends on the item.
const (
	StatusInProgress  = "inProgress"
	StatusCompleted   = "completed"
	StatusFailed      = "failed"
	StatusDeclined    = "declined"    // commands and patches
	StatusInterrupted = "interrupted" // turns, calls of agents
)

// CommandExecution is a command that the agent runs, or that the user ran with
// thread/shellCommand. It can outlive its turn.
//
// AggregatedOutput combines stdout and stderr, cut at 1 MiB by the server; it is nil while the
// command runs. The output deltas of a command need not add up to it.
type CommandExecution struct {
	ItemHead
	Command          string          `json:"command"`
	CWD              string          `json:"cwd"`
	ProcessID        string          `json:"processId,omitempty"`
	Source           string          `json:"source,omitempty"` // agent, userShell, unifiedExecStartup, unifiedExecInteraction
	Status           string          `json:"status"`
	CommandActions   []CommandAction `json:"commandActions"`
	AggregatedOutput *string         `json:"aggregatedOutput,omitempty"`
	ExitCode         *int64          `json:"exitCode,omitempty"`
	DurationMs       *int64          `json:"durationMs,omitempty"`
	PluginID         string          `json:"pluginId,omitempty"`
	ScriptPath       string          `json:"scriptPath,omitempty"`
}

// CommandAction is the server's guess at the effect of a part of a command. Type is read,
// listFiles, search or unknown, and determines which other members are set.
type CommandAction struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Name    string `json:"name,omitempty"`
	Path    string `json:"path,omitempty"`
	Query   string `json:"query,omitempty"`
}

// FileChange is an item for a patch: the changes to files, and whether they were applied or
// refused.
type FileChange struct {
	ItemHead
	Changes []Change `json:"changes"`
	Status  string   `json:"status"`
}

// Change is the change of a patch to one file. Diff is a unified diff for an update and the whole
// text of the file for an addition or a deletion.
type Change struct {
	Path string     `json:"path"`
	Kind ChangeKind `json:"kind"`
	Diff string     `json:"diff"`
}

// ChangeKind is the kind of a change: add, delete or update, which may also move the file.
type ChangeKind struct {
	Type     string `json:"type"`
	MovePath string `json:"move_path,omitempty"`
}

// MCPToolCall is an item for a call of a tool of an MCP server, with its arguments and its
// result.
type MCPToolCall struct {
	ItemHead
	Server            string     `json:"server"`
	Tool              string     `json:"tool"`
	Status            string     `json:"status"`
	Arguments         JSON       `json:"arguments"`
	Result            *MCPResult `json:"result,omitempty"`
	Error             *MCPError  `json:"error,omitempty"`
	DurationMs        *int64     `json:"durationMs,omitempty"`
	ReadOnlyHint      *bool      `json:"readOnlyHint,omitempty"`
	PluginID          string     `json:"pluginId,omitempty"`
	AppContext        JSON       `json:"appContext,omitempty"`
	MCPAppResourceURI string     `json:"mcpAppResourceUri,omitempty"`
	MCPAppUI          JSON       `json:"mcpAppUi,omitempty"`
}

// MCPResult is the result of a tool of an MCP server. Content is a list of MCP content blocks,
// undecoded.
type MCPResult struct {
	Content           []JSON `json:"content"`
	StructuredContent JSON   `json:"structuredContent,omitempty"`
	Meta              JSON   `json:"_meta,omitempty"`
}

// MCPError is the error of a call of an MCP tool that failed, as a message for people.
type MCPError struct {
	Message string `json:"message"`
}

// DynamicToolCall is an item for a call of a tool that the client serves, with its arguments and
// result.
type DynamicToolCall struct {
	ItemHead
	Namespace    string        `json:"namespace,omitempty"`
	Tool         string        `json:"tool"`
	Arguments    JSON          `json:"arguments"`
	Status       string        `json:"status"`
	ContentItems []ToolContent `json:"contentItems,omitempty"`
	Success      *bool         `json:"success,omitempty"`
	DurationMs   *int64        `json:"durationMs,omitempty"`
}

// ToolContent is a part of the result of a dynamic tool. Type is inputText, inputImage or
// inputAudio, and determines which other member is set.
type ToolContent struct {
	Type     string  `json:"type"`
	Text     *string `json:"text,omitempty"`
	ImageURL string  `json:"imageUrl,omitempty"`
	AudioURL string  `json:"audioUrl,omitempty"`
}

// CollabAgentToolCall is an interaction of the agent with other agents. Tool is spawnAgent,
// sendInput, resumeAgent, wait, closeAgent or one of the newer ones. The ids of the agents that it
// started are known only when the item is completed.
type CollabAgentToolCall struct {
	ItemHead
	Tool              string                `json:"tool"`
	Status            string                `json:"status"`
	SenderThreadID    string                `json:"senderThreadId"`
	ReceiverThreadIDs []string              `json:"receiverThreadIds"`
	Prompt            string                `json:"prompt,omitempty"`
	Model             string                `json:"model,omitempty"`
	ReasoningEffort   string                `json:"reasoningEffort,omitempty"`
	AgentsStates      map[string]AgentState `json:"agentsStates"`
}

// AgentState is the state of another agent: pendingInit, running, interrupted, completed, errored,
// shutdown or notFound.
type AgentState struct {
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
}

// SubAgentActivity is an item that reports that a subagent started, received a message or ended,
// and names its thread.
type SubAgentActivity struct {
	ItemHead
	Kind            string `json:"kind"`
	AgentThreadID   string `json:"agentThreadId"`
	AgentPath       string `json:"agentPath"`
	Model           string `json:"model,omitempty"`
	ReasoningEffort string `json:"reasoningEffort,omitempty"`
}

// WebSearch is an item for a web search by the provider of the model.
type WebSearch struct {
	ItemHead
	Query   string        `json:"query"`
	Action  *SearchAction `json:"action,omitempty"`
	Results []JSON        `json:"results,omitempty"`
}

// SearchAction is the action of a web search. Type is search, openPage, findInPage or other, and
// determines which other members are set.
type SearchAction struct {
	Type    string   `json:"type"`
	Query   string   `json:"query,omitempty"`
	Queries []string `json:"queries,omitempty"`
	URL     string   `json:"url,omitempty"`
	Pattern string   `json:"pattern,omitempty"`
}

// ImageView is an item for an image file on the server's machine that the agent viewed.
type ImageView struct {
	ItemHead
	Path string `json:"path"`
}

// Sleep is an item for an intended pause of the agent, with its duration in milliseconds.
type Sleep struct {
	ItemHead
	DurationMs int64 `json:"durationMs"`
}

// ImageGeneration is an image that the provider of the model generated. Result is the image in
// base64; a newer server sends FileID instead.
type ImageGeneration struct {
	ItemHead
	Status                string `json:"status"`
	RevisedPrompt         string `json:"revisedPrompt,omitempty"`
	Result                string `json:"result,omitempty"`
	FileID                string `json:"fileId,omitempty"`
	SavedPath             string `json:"savedPath,omitempty"`
	GenerationID          string `json:"generationId,omitempty"`
	Failure               JSON   `json:"failure,omitempty"`
	InputImages           JSON   `json:"inputImages,omitempty"`
	TransparentBackground *bool  `json:"transparentBackground,omitempty"`
}

func (i *CommandExecution) MarshalJSON() ([]byte, error) {
	return encodePart(i.text, "commandExecution", i)
}
func (i *FileChange) MarshalJSON() ([]byte, error)  { return encodePart(i.text, "fileChange", i) }
func (i *MCPToolCall) MarshalJSON() ([]byte, error) { return encodePart(i.text, "mcpToolCall", i) }
func (i *DynamicToolCall) MarshalJSON() ([]byte, error) {
	return encodePart(i.text, "dynamicToolCall", i)
}
func (i *CollabAgentToolCall) MarshalJSON() ([]byte, error) {
	return encodePart(i.text, "collabAgentToolCall", i)
}
func (i *SubAgentActivity) MarshalJSON() ([]byte, error) {
	return encodePart(i.text, "subAgentActivity", i)
}
func (i *WebSearch) MarshalJSON() ([]byte, error) { return encodePart(i.text, "webSearch", i) }
func (i *ImageView) MarshalJSON() ([]byte, error) { return encodePart(i.text, "imageView", i) }
func (i *Sleep) MarshalJSON() ([]byte, error)     { return encodePart(i.text, "sleep", i) }
func (i *ImageGeneration) MarshalJSON() ([]byte, error) {
	return encodePart(i.text, "imageGeneration", i)
}
