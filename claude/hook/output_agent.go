package hook

// StopOutput is the output of a Stop hook. It can keep the turn going, with Output.Decision
// [DecisionBlock] and a Reason for the model, or with AdditionalContext.
type StopOutput struct {
	Output            `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

// StopFailureOutput is the output of a StopFailure hook. It has no members beyond those of
// [Output], because the turn has already failed.
type StopFailureOutput struct {
	Output `json:"-"`
}

// SubagentStartOutput is the output of a SubagentStart hook. AdditionalContext is added to the
// subagent's initial context.
type SubagentStartOutput struct {
	Output            `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

// SubagentStopOutput is the output of a SubagentStop hook. It can keep the subagent going, as
// [StopOutput] does for a turn.
type SubagentStopOutput struct {
	Output            `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

// TeammateIdleOutput is the output of a TeammateIdle hook. It has no members beyond those of
// [Output].
type TeammateIdleOutput struct {
	Output `json:"-"`
}

// TaskCreatedOutput is the output of a TaskCreated hook. It has no members beyond those of
// [Output].
type TaskCreatedOutput struct {
	Output `json:"-"`
}

// TaskCompletedOutput is the output of a TaskCompleted hook. It has no members beyond those of
// [Output].
type TaskCompletedOutput struct {
	Output `json:"-"`
}
