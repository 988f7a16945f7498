package hook

// SessionStartOutput says what a session begins with.
type SessionStartOutput struct {
	Output             `json:"-"`
	AdditionalContext  string   `json:"additionalContext,omitempty"`
	InitialUserMessage string   `json:"initialUserMessage,omitempty"`
	SessionTitle       string   `json:"sessionTitle,omitempty"`
	WatchPaths         []string `json:"watchPaths,omitzero"`    // files that FileChanged tells about; nil keeps them
	ReloadSkills       bool     `json:"reloadSkills,omitempty"` // look for skills again
}

// SessionEndOutput answers the end of a session.
type SessionEndOutput struct {
	Output `json:"-"`
}

// SetupOutput adds to a setup.
type SetupOutput struct {
	Output            `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

// PreCompactOutput answers the start of compacting.
type PreCompactOutput struct {
	Output `json:"-"`
}

// PostCompactOutput answers the end of compacting.
type PostCompactOutput struct {
	Output `json:"-"`
}

// PreModelSwitchOutput decides about a change of the model. A session without
// its own user interface takes [DecisionAsk] for a refusal.
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

// PostModelSwitchOutput adds to the next request, which the new model gets.
type PostModelSwitchOutput struct {
	Output            `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}
