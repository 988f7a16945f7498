package item

// Warning is a warning of the server for users, about the thread or in general.
type Warning struct {
	Note
	Message string `json:"message"`
}

// GuardianWarning is a warning for users from the agent that reviews approvals.
type GuardianWarning struct {
	Note
	Message string `json:"message"`
}

// DeprecationNotice reports that a feature in use will be removed, with details if the server has
// them.
type DeprecationNotice struct {
	Note
	Summary string `json:"summary"`
	Details string `json:"details,omitempty"`
}

// ConfigWarning reports a problem with the configuration or the machine, and the file if known.
type ConfigWarning struct {
	Note
	Summary string `json:"summary"`
	Details string `json:"details,omitempty"`
	Path    string `json:"path,omitempty"`
	Range   JSON   `json:"range,omitempty"`
}

// MCPServerStatusUpdated reports the progress of the start of an MCP server: starting, ready,
// failed or cancelled.
type MCPServerStatusUpdated struct {
	Note
	Name          string `json:"name"`
	Status        string `json:"status"`
	Error         string `json:"error,omitempty"`
	FailureReason JSON   `json:"failureReason,omitempty"`
}

// MCPOAuthLoginCompleted reports the end of a login with an MCP server, and the error if it
// failed.
type MCPOAuthLoginCompleted struct {
	Note
	Name    string `json:"name"`
	Success bool   `json:"success"`
	Error   string `json:"error,omitempty"`
	LoginID string `json:"loginId,omitempty"`
}

// AccountUpdated reports a login, a logout or a change of the account, and the plan of the account.
type AccountUpdated struct {
	Note
	AuthMode string `json:"authMode,omitempty"`
	PlanType string `json:"planType,omitempty"`
}

// AccountLoginCompleted reports the end of a login with the provider, and the error if it
// failed.
type AccountLoginCompleted struct {
	Note
	Success bool   `json:"success"`
	Error   string `json:"error,omitempty"`
	LoginID string `json:"loginId,omitempty"`
}

// RateLimitsUpdated reports the used share of the limits. The shape of RateLimits depends on
// provider and plan.
type RateLimitsUpdated struct {
	Note
	RateLimits JSON `json:"rateLimits"`
}

// SkillsChanged reports that skills were added, changed or removed. It does not list them; ask
// the server.
type SkillsChanged struct{ Note }

// RemoteControlStatusChanged reports whether the server can be controlled remotely, and under which
// name.
type RemoteControlStatusChanged struct {
	Note
	Status         string `json:"status"`
	ServerName     string `json:"serverName"`
	InstallationID string `json:"installationId"`
	EnvironmentID  string `json:"environmentId,omitempty"`
}
