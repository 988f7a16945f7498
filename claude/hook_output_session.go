package claude

// SessionStartOutput says what a session begins with.
type SessionStartOutput struct {
	HookOutput         `json:"-"`
	AdditionalContext  string   `json:"additionalContext,omitempty"`
	InitialUserMessage string   `json:"initialUserMessage,omitempty"`
	SessionTitle       string   `json:"sessionTitle,omitempty"`
	WatchPaths         []string `json:"watchPaths,omitzero"`    // files that FileChanged tells about; nil keeps them
	ReloadSkills       bool     `json:"reloadSkills,omitempty"` // look for skills again
}

// SessionEndOutput answers the end of a session.
type SessionEndOutput struct {
	HookOutput `json:"-"`
}

// SetupOutput adds to a setup.
type SetupOutput struct {
	HookOutput        `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

// PreCompactOutput answers the start of compacting.
type PreCompactOutput struct {
	HookOutput `json:"-"`
}

// PostCompactOutput answers the end of compacting.
type PostCompactOutput struct {
	HookOutput `json:"-"`
}

// PreModelSwitchOutput decides about a change of the model. A session without
// its own user interface takes [DecisionAsk] for a refusal.
type PreModelSwitchOutput struct {
	HookOutput               `json:"-"`
	PermissionDecision       HookPermissionDecision `json:"permissionDecision,omitempty"`
	PermissionDecisionReason string                 `json:"permissionDecisionReason,omitempty"`
}

func (o *PreModelSwitchOutput) check() error {
	return oneOf("PermissionDecision", o.PermissionDecision, DecisionAllow, DecisionDeny, DecisionAsk)
}

// PostModelSwitchOutput adds to the next request, which the new model gets.
type PostModelSwitchOutput struct {
	HookOutput        `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}
