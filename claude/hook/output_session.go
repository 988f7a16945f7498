package hook

// SessionStartOutput is the output of a SessionStart hook: context, a first prompt, a title and
// files to watch for the session.
type SessionStartOutput struct {
	Output             `json:"-"`
	AdditionalContext  string   `json:"additionalContext,omitempty"`
	InitialUserMessage string   `json:"initialUserMessage,omitempty"`
	SessionTitle       string   `json:"sessionTitle,omitempty"`
	WatchPaths         []string `json:"watchPaths,omitzero"`    // files to watch for FileChanged; nil keeps them
	ReloadSkills       bool     `json:"reloadSkills,omitempty"` // search for skills again
}

// SessionEndOutput is the output of a SessionEnd hook. It has no members beyond those of
// [Output].
type SessionEndOutput struct {
	Output `json:"-"`
}

// SetupOutput is the output of a Setup hook. AdditionalContext is added to the model's context.
type SetupOutput struct {
	Output            `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

// PreCompactOutput is the output of a PreCompact hook. It has no members beyond those of
// [Output].
type PreCompactOutput struct {
	Output `json:"-"`
}

// PostCompactOutput is the output of a PostCompact hook. It has no members beyond those of
// [Output].
type PostCompactOutput struct {
	Output `json:"-"`
}

// PreModelSwitchOutput is the output of a PreModelSwitch hook, which decides about a change of the
// model. In a session without a user interface of the CLI, [DecisionAsk] is a refusal.
type PreModelSwitchOutput struct {
	Output                   `json:"-"`
	PermissionDecision       PermissionDecision `json:"permissionDecision,omitempty"`
	PermissionDecisionReason string             `json:"permissionDecisionReason,omitempty"`
}

func (*PreModelSwitchOutput) refuse(reason string) AnyOutput {
	return &PreModelSwitchOutput{PermissionDecision: DecisionDeny, PermissionDecisionReason: reason}
}

func (o *PreModelSwitchOutput) check() error {
	return oneOf("PermissionDecision", o.PermissionDecision, DecisionAllow, DecisionDeny, DecisionAsk)
}

// PostModelSwitchOutput is the output of a PostModelSwitch hook. AdditionalContext goes to the
// new model with the next request.
type PostModelSwitchOutput struct {
	Output            `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}
