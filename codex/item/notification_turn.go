package item

// TurnStarted reports the start of a turn, including turns that this client did not request.
type TurnStarted struct {
	Note
	Turn Turn `json:"turn"`
}

// TurnCompleted reports the end of a turn, whether it completed, failed or was interrupted. The items
// of its turn are at most the last message. Commands can continue after it.
type TurnCompleted struct {
	Note
	Turn Turn `json:"turn"`
}

// TurnDiffUpdated is the unified diff of all changes of the turn so far. It replaces earlier ones.
type TurnDiffUpdated struct {
	Note
	Diff string `json:"diff"`
}

// TurnPlanUpdated is the plan that the agent follows in a turn, with the state of each step.
type TurnPlanUpdated struct {
	Note
	Explanation string     `json:"explanation,omitempty"`
	Plan        []PlanStep `json:"plan"`
}

// TurnModerationMetadata is the report of the provider's moderation about a turn, undecoded.
type TurnModerationMetadata struct {
	Note
	Metadata JSON `json:"metadata"`
}

// ErrorNotice reports an error in a turn. With WillRetry the server retries, and text streamed
// before is void; otherwise the turn fails.
type ErrorNotice struct {
	Note
	Error     TurnError `json:"error"`
	WillRetry bool      `json:"willRetry"`
}

// HookStarted reports the start of a run of a hook. The [HookCompleted] with the same id ends the
// run.
type HookStarted struct {
	Note
	Run HookRun `json:"run"`
}

// HookCompleted reports the end of a run of a hook: its outcome, its output, and whether it blocked
// an action.
type HookCompleted struct {
	Note
	Run HookRun `json:"run"`
}

// ModelRerouted reports that another model than the requested one answers, and the reason.
type ModelRerouted struct {
	Note
	FromModel string `json:"fromModel"`
	ToModel   string `json:"toModel"`
	Reason    JSON   `json:"reason"`
}

// ModelVerification reports the provider's verification of the user for this turn, undecoded.
type ModelVerification struct {
	Note
	Verifications []JSON `json:"verifications"`
}

// ModelSafetyBuffering reports that the provider delays the answer while it checks it, and the
// reasons.
type ModelSafetyBuffering struct {
	Note
	Model           string   `json:"model"`
	FasterModel     string   `json:"fasterModel,omitempty"`
	Reasons         []string `json:"reasons"`
	UseCases        []string `json:"useCases"`
	ShowBufferingUI bool     `json:"showBufferingUi"`
}

// AuthRecoveryStarted reports that the server has begun to renew its login with the provider.
type AuthRecoveryStarted struct {
	Note
	Provider string `json:"provider"`
	Message  string `json:"message"`
}

// AuthRecoveryCompleted reports that the login with the provider was renewed, so that requests can
// continue.
type AuthRecoveryCompleted struct {
	Note
	Provider string `json:"provider"`
	Message  string `json:"message"`
}
