package tool

// AskUserQuestionInput is the input of AskUserQuestion: one to four questions.
// Whoever answers for the user gives it back with Answers.
type AskUserQuestionInput struct {
	Questions   []Question                    `json:"questions"`
	Answers     map[string]string             `json:"answers,omitempty"`     // by the text of the question
	Annotations map[string]QuestionAnnotation `json:"annotations,omitempty"` // by the text of the question
	Metadata    *QuestionMetadata             `json:"metadata,omitempty"`
}

// Question is a question with the answers to choose from.
type Question struct {
	Question    string           `json:"question"`
	Header      string           `json:"header"` // a word or two
	Options     []QuestionOption `json:"options"`
	MultiSelect bool             `json:"multiSelect"`
}

// QuestionOption is an answer to choose.
type QuestionOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Preview     string `json:"preview,omitempty"`
}

// QuestionAnnotation is what a user added to an answer.
type QuestionAnnotation struct {
	Preview    string `json:"preview,omitempty"`
	Notes      string `json:"notes,omitempty"`
	Unanswered string `json:"unanswered,omitempty"` // skipped, replied_in_chat, dismissed
}

// QuestionMetadata says what made the agent ask.
type QuestionMetadata struct {
	Source string `json:"source,omitempty"`
}

// AskUserQuestionResult is the result of AskUserQuestion.
type AskUserQuestionResult struct {
	Questions    []Question                    `json:"questions"`
	Answers      map[string]string             `json:"answers"` // by the text of the question
	Response     string                        `json:"response,omitempty"`
	Annotations  map[string]QuestionAnnotation `json:"annotations,omitempty"`
	AFKTimeoutMS int64                         `json:"afkTimeoutMs,omitempty"` // set: nobody answered for so long
}

// EnterPlanModeInput is the input of EnterPlanMode, which takes nothing.
type EnterPlanModeInput struct{}

// EnterPlanModeResult is the result of EnterPlanMode.
type EnterPlanModeResult struct {
	Message string `json:"message"`
}

// ExitPlanModeInput is the input of ExitPlanMode: the agent wants its plan to be
// approved. Newer CLIs keep the plan in a file and put Plan and PlanFilePath in
// themselves; the model's own call may have neither.
type ExitPlanModeInput struct {
	AllowedPrompts []AllowedPrompt `json:"allowedPrompts,omitempty"`
	Plan           string          `json:"plan,omitempty"`
	PlanFilePath   string          `json:"planFilePath,omitempty"`
}

// AllowedPrompt is something that a plan needs leave for, in words.
type AllowedPrompt struct {
	Tool   string `json:"tool"` // Bash
	Prompt string `json:"prompt"`
}

// ExitPlanModeResult is the result of ExitPlanMode.
type ExitPlanModeResult struct {
	Plan                   *string `json:"plan"` // nil: there was none
	IsAgent                bool    `json:"isAgent"`
	FilePath               string  `json:"filePath,omitempty"`
	HasTaskTool            bool    `json:"hasTaskTool,omitempty"`
	PlanWasEdited          bool    `json:"planWasEdited,omitempty"`
	AwaitingLeaderApproval bool    `json:"awaitingLeaderApproval,omitempty"`
	RequestID              string  `json:"requestId,omitempty"`
}

// EnterWorktreeInput is the input of EnterWorktree: a new worktree by Name, or
// one that exists by Path.
type EnterWorktreeInput struct {
	Name string `json:"name,omitempty"`
	Path string `json:"path,omitempty"`
}

// EnterWorktreeResult is the result of EnterWorktree.
type EnterWorktreeResult struct {
	WorktreePath   string `json:"worktreePath"`
	WorktreeBranch string `json:"worktreeBranch,omitempty"`
	Message        string `json:"message"`
}

// ExitWorktreeInput is the input of ExitWorktree.
type ExitWorktreeInput struct {
	Action         string `json:"action"` // keep, remove
	DiscardChanges bool   `json:"discard_changes,omitempty"`
}

// ExitWorktreeResult is the result of ExitWorktree.
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

// ProposeGoalInput is the input of ProposeGoal: when the work is done.
type ProposeGoalInput struct {
	Condition string `json:"condition"`
	AskUser   *bool  `json:"ask_user,omitempty"`
}

// ProposeGoalResult is the result of ProposeGoal.
type ProposeGoalResult struct {
	Condition string `json:"condition"`
	AskUser   bool   `json:"askUser"`
}

// ProposeSkillsInput is the input of propose_skills.
type ProposeSkillsInput struct {
	Proposals []SkillProposal `json:"proposals"`
}

// SkillProposal is a skill to add, or a change to one.
type SkillProposal struct {
	Name        string      `json:"name"`
	Kind        string      `json:"kind"` // new, improvement
	Target      string      `json:"target,omitempty"`
	Description string      `json:"description"`
	Evidence    []string    `json:"evidence,omitempty"`
	Edits       []SkillEdit `json:"edits,omitempty"`
	SkillMD     string      `json:"skillMd,omitempty"`
}

// SkillEdit is a string of a skill and what takes its place.
type SkillEdit struct {
	OldString string `json:"old_string"`
	NewString string `json:"new_string"`
}

// ProposeSkillsResult is the result of propose_skills.
type ProposeSkillsResult struct {
	ProposalCount int64 `json:"proposalCount"`
}
