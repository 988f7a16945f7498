package claude

// StopOutput can keep a turn going: HookOutput.Decision [DecisionBlock] with a
// Reason for the model, or AdditionalContext.
type StopOutput struct {
	HookOutput        `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

// StopFailureOutput answers a turn that failed.
type StopFailureOutput struct {
	HookOutput `json:"-"`
}

// SubagentStartOutput adds to what a subagent is told.
type SubagentStartOutput struct {
	HookOutput        `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

// SubagentStopOutput can keep a subagent going, as [StopOutput] does.
type SubagentStopOutput struct {
	HookOutput        `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

// TeammateIdleOutput answers an agent without work.
type TeammateIdleOutput struct {
	HookOutput `json:"-"`
}

// TaskCreatedOutput answers a new task.
type TaskCreatedOutput struct {
	HookOutput `json:"-"`
}

// TaskCompletedOutput answers a completed task.
type TaskCompletedOutput struct {
	HookOutput `json:"-"`
}
