package tool

// AskUserQuestionInput is the input of AskUserQuestion: one to four questions to the user. To
// answer them, allow the call with this input and Answers set.
type AskUserQuestionInput struct {
	Questions   []Question                    `json:"questions"`
	Answers     map[string]string             `json:"answers,omitempty"`     // by the text of the question
	Annotations map[string]QuestionAnnotation `json:"annotations,omitempty"` // by the text of the question
	Metadata    *QuestionMetadata             `json:"metadata,omitempty"`
}

// Question is a question to the user with the options to choose from. With MultiSelect the user
// may choose several.
type Question struct {
	Question    string           `json:"question"`
	Header      string           `json:"header"` // a word or two
	Options     []QuestionOption `json:"options"`
	MultiSelect bool             `json:"multiSelect"`
}

// QuestionOption is one answer that the user may choose: a short label, an explanation, and an
// optional preview.
type QuestionOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Preview     string `json:"preview,omitempty"`
}

// QuestionAnnotation is a user's note on an answer, or the reason why the answer is missing.
type QuestionAnnotation struct {
	Preview    string `json:"preview,omitempty"`
	Notes      string `json:"notes,omitempty"`
	Unanswered string `json:"unanswered,omitempty"` // skipped, replied_in_chat, dismissed
}

// QuestionMetadata records why the agent asked. Source is a name that the CLI chooses, and may be
// empty.
type QuestionMetadata struct {
	Source string `json:"source,omitempty"`
}

// AskUserQuestionResult is the result of AskUserQuestion: the questions with the user's
// answers, by the text of the question.
type AskUserQuestionResult struct {
	Questions    []Question                    `json:"questions"`
	Answers      map[string]string             `json:"answers"` // by the text of the question
	Response     string                        `json:"response,omitempty"`
	Annotations  map[string]QuestionAnnotation `json:"annotations,omitempty"`
	AFKTimeoutMS int64                         `json:"afkTimeoutMs,omitempty"` // set if the question timed out: the time limit
}

// EnterPlanModeInput is the input of EnterPlanMode, which takes no arguments. From then on the
// session plans and makes no changes.
type EnterPlanModeInput struct{}

// EnterPlanModeResult is the result of EnterPlanMode: a text that tells the model what to do in
// plan mode.
type EnterPlanModeResult struct {
	Message string `json:"message"`
}

// ExitPlanModeInput is the input of ExitPlanMode, with which the agent asks for its plan to be
// approved. Newer CLIs keep the plan in a file and add Plan and PlanFilePath themselves; the call
// as the model wrote it may have neither.
type ExitPlanModeInput struct {
	AllowedPrompts []AllowedPrompt `json:"allowedPrompts,omitempty"`
	Plan           string          `json:"plan,omitempty"`
	PlanFilePath   string          `json:"planFilePath,omitempty"`
}

// AllowedPrompt is an action that a plan needs permission for, described in words rather than
// as a command.
type AllowedPrompt struct {
	Tool   string `json:"tool"` // Bash
	Prompt string `json:"prompt"`
}

// ExitPlanModeResult is the result of ExitPlanMode: the plan as it was approved, and the file
// that it is in.
type ExitPlanModeResult struct {
	Plan                   *string `json:"plan"` // nil: there was none
	IsAgent                bool    `json:"isAgent"`
	FilePath               string  `json:"filePath,omitempty"`
	HasTaskTool            bool    `json:"hasTaskTool,omitempty"`
	PlanWasEdited          bool    `json:"planWasEdited,omitempty"`
	AwaitingLeaderApproval bool    `json:"awaitingLeaderApproval,omitempty"`
	RequestID              string  `json:"requestId,omitempty"`
}

// EnterWorktreeInput is the input of EnterWorktree: the Name of a worktree to create, or the Path
// of one that exists.
type EnterWorktreeInput struct {
	Name string `json:"name,omitempty"`
	Path string `json:"path,omitempty"`
}

// EnterWorktreeResult is the result of EnterWorktree: the worktree and the branch that the
// session works in from then on.
type EnterWorktreeResult struct {
	WorktreePath   string `json:"worktreePath"`
	WorktreeBranch string `json:"worktreeBranch,omitempty"`
	Message        string `json:"message"`
}

// ExitWorktreeInput is the input of ExitWorktree: whether to keep or remove the worktree, and
// its changes with it.
type ExitWorktreeInput struct {
	Action         string `json:"action"` // keep, remove
	DiscardChanges bool   `json:"discard_changes,omitempty"`
}

// ExitWorktreeResult is the result of ExitWorktree: the action taken on the worktree, and the
// directory that the session returns to.
type ExitWorktreeResult struct {
	Action           string `json:"action"` // keep, remove
	OriginalCwd      string `json:"originalCwd"`
	WorktreePath     string `json:"worktreePath"`
	WorktreeBranch   string `json:"worktreeBranch,omitempty"`
	TmuxSessionName  string `json:"tmuxSessionName,omitempty"`
	DiscardedFiles   *int64 `json:"discardedFiles,omitempty"`
	DiscardedCommits *int64 `json:"discardedCommits,omitempty"`
	Message          string `json:"message"`
}

// ProposeGoalInput is the input of ProposeGoal: the condition that completes the work, and
// whether the user is asked.
type ProposeGoalInput struct {
	Condition string `json:"condition"`
	AskUser   *bool  `json:"ask_user,omitempty"`
}

// ProposeGoalResult is the result of ProposeGoal. It repeats the condition and whether the user
// is asked about it.
type ProposeGoalResult struct {
	Condition string `json:"condition"`
	AskUser   bool   `json:"askUser"`
}

// ProposeSkillsInput is the input of propose_skills: new skills, or changes to existing ones,
// that the agent proposes.
type ProposeSkillsInput struct {
	Proposals []SkillProposal `json:"proposals"`
}

// SkillProposal is a skill that the agent proposes to add, or a change to an existing one, with
// its evidence.
type SkillProposal struct {
	Name        string      `json:"name"`
	Kind        string      `json:"kind"` // new, improvement
	Target      string      `json:"target,omitempty"`
	Description string      `json:"description"`
	Evidence    []string    `json:"evidence,omitempty"`
	Edits       []SkillEdit `json:"edits,omitempty"`
	SkillMD     string      `json:"skillMd,omitempty"`
}

// SkillEdit is one replacement in the text of a skill: the string to replace and the new one.
type SkillEdit struct {
	OldString string `json:"old_string"`
	NewString string `json:"new_string"`
}

// ProposeSkillsResult is the result of propose_skills. It holds only the number of the
// proposals that were made.
type ProposeSkillsResult struct {
	ProposalCount int64 `json:"proposalCount"`
}
