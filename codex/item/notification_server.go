package item

// Warning is a warning of the server.
type Warning struct {
	Note
	Message string `json:"message"`
}

// GuardianWarning is a warning of the reviewing agent.
type GuardianWarning struct {
	Note
	Message string `json:"message"`
}

// DeprecationNotice says that something in use will go away.
type DeprecationNotice struct {
	Note
	Summary string `json:"summary"`
	Details string `json:"details,omitempty"`
}

// ConfigWarning says that something is wrong with the configuration or the machine.
type ConfigWarning struct {
	Note
	Summary string `json:"summary"`
	Details string `json:"details,omitempty"`
	Path    string `json:"path,omitempty"`
	Range   JSON   `json:"range,omitempty"`
}

// MCPServerStatusUpdated says how the start of an MCP server goes: starting, ready,
// failed or cancelled.
type MCPServerStatusUpdated struct {
	Note
	Name          string `json:"name"`
	Status        string `json:"status"`
	Error         string `json:"error,omitempty"`
	FailureReason JSON   `json:"failureReason,omitempty"`
}

// MCPOAuthLoginCompleted is the end of a login with an MCP server.
type MCPOAuthLoginCompleted struct {
	Note
	Name    string `json:"name"`
	Success bool   `json:"success"`
	Error   string `json:"error,omitempty"`
	LoginID string `json:"loginId,omitempty"`
}

// AccountUpdated says that another account is in use, or none.
type AccountUpdated struct {
	Note
	AuthMode string `json:"authMode,omitempty"`
	PlanType string `json:"planType,omitempty"`
}

// AccountLoginCompleted is the end of a login.
type AccountLoginCompleted struct {
	Note
	Success bool   `json:"success"`
	Error   string `json:"error,omitempty"`
	LoginID string `json:"loginId,omitempty"`
}

// RateLimitsUpdated says how much of the limits is used up. The shape of RateLimits
// differs by provider and plan.
type RateLimitsUpdated struct {
	Note
	RateLimits JSON `json:"rateLimits"`
}

// SkillsChanged says that skills were added, changed or removed.
type SkillsChanged struct{ Note }

// RemoteControlStatusChanged says whether the server can be driven from elsewhere.
type RemoteControlStatusChanged struct {
	Note
	Status         string `json:"status"`
	ServerName     string `json:"serverName"`
	InstallationID string `json:"installationId"`
	EnvironmentID  string `json:"environmentId,omitempty"`
}
