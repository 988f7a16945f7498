package hook

// StopOutput can keep a turn going: Output.Decision [DecisionBlock] with a
// Reason for the model, or AdditionalContext.
type StopOutput struct {
	Output            `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

// StopFailureOutput answers a turn that failed.
type StopFailureOutput struct {
	Output `json:"-"`
}

// SubagentStartOutput adds to what a subagent is told.
type SubagentStartOutput struct {
	Output            `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

// SubagentStopOutput can keep a subagent going, as [StopOutput] does.
type SubagentStopOutput struct {
	Output            `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

// TeammateIdleOutput answers an agent without work.
type TeammateIdleOutput struct {
	Output `json:"-"`
}

// TaskCreatedOutput answers a new task.
type TaskCreatedOutput struct {
	Output `json:"-"`
}

// TaskCompletedOutput answers a completed task.
type TaskCompletedOutput struct {
	Output `json:"-"`
}
