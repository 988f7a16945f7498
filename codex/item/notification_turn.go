package item

// TurnStarted says that a turn runs, also one that no client asked for.
type TurnStarted struct {
	Note
	Turn Turn `json:"turn"`
}

// TurnCompleted is the end of a turn, whether good or bad. Its items are at most the last
// message; commands can go on.
type TurnCompleted struct {
	Note
	Turn Turn `json:"turn"`
}

// TurnDiffUpdated is the diff of everything that the turn has changed so far.
type TurnDiffUpdated struct {
	Note
	Diff string `json:"diff"`
}

// TurnPlanUpdated is the plan that the agent follows in a turn.
type TurnPlanUpdated struct {
	Note
	Explanation string     `json:"explanation,omitempty"`
	Plan        []PlanStep `json:"plan"`
}

// TurnModerationMetadata is what the provider's moderation said.
type TurnModerationMetadata struct {
	Note
	Metadata JSON `json:"metadata"`
}

// ErrorNotice is an error in a turn. With WillRetry the server tries again, and what it
// streamed before is void; without, the turn fails.
type ErrorNotice struct {
	Note
	Error     TurnError `json:"error"`
	WillRetry bool      `json:"willRetry"`
}

// HookStarted says that a hook runs.
type HookStarted struct {
	Note
	Run HookRun `json:"run"`
}

// HookCompleted says how a hook ended, and whether it blocked something.
type HookCompleted struct {
	Note
	Run HookRun `json:"run"`
}

// ModelRerouted says that another model answers.
type ModelRerouted struct {
	Note
	FromModel string `json:"fromModel"`
	ToModel   string `json:"toModel"`
	Reason    JSON   `json:"reason"`
}

// ModelVerification says what the provider verified about the user.
type ModelVerification struct {
	Note
	Verifications []JSON `json:"verifications"`
}

// ModelSafetyBuffering says that the provider holds the answer back for a check.
type ModelSafetyBuffering struct {
	Note
	Model           string   `json:"model"`
	FasterModel     string   `json:"fasterModel,omitempty"`
	Reasons         []string `json:"reasons"`
	UseCases        []string `json:"useCases"`
	ShowBufferingUI bool     `json:"showBufferingUi"`
}

// AuthRecoveryStarted says that the server renews its login with the provider.
type AuthRecoveryStarted struct {
	Note
	Provider string `json:"provider"`
	Message  string `json:"message"`
}

// AuthRecoveryCompleted says that the login with the provider was renewed.
type AuthRecoveryCompleted struct {
	Note
	Provider string `json:"provider"`
	Message  string `json:"message"`
}
