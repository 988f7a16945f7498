package claude

import (
	"slices"

	"github.com/seed7221b0f9/parley/claude/message"
)

// ServerInfo is the CLI's answer to initialize: its commands, subagents, models and output
// styles, and the account that it uses.
type ServerInfo struct {
	Commands               []message.SlashCommand `json:"commands"`
	Agents                 []AgentInfo            `json:"agents"`
	Models                 []ModelInfo            `json:"models"`
	Account                AccountInfo            `json:"account"`
	OutputStyle            string                 `json:"output_style"`
	AvailableOutputStyles  []string               `json:"available_output_styles"`
	ClaudeCodeVersion      string                 `json:"claude_code_version,omitempty"`
	Capabilities           []string               `json:"capabilities,omitempty"`
	CurrentPermissionMode  message.PermissionMode `json:"current_permission_mode,omitempty"`
	SessionState           message.SessionState   `json:"session_state,omitempty"`
	PID                    int64                  `json:"pid,omitempty"`
	HooksApplied           *bool                  `json:"hooks_applied,omitempty"`
	HookOnFailureSupported bool                   `json:"hook_on_failure_supported,omitempty"`
	PluginsApplied         *bool                  `json:"plugins_applied,omitempty"`
	FastModeState          string                 `json:"fast_mode_state,omitempty"`
	FastModeDisabledReason string                 `json:"fast_mode_disabled_reason,omitempty"`

	SDKMCPManifestsParked map[string]string `json:"sdk_mcp_manifests_parked,omitempty"`

	raw message.JSON
}

// shrink releases the unused capacity of the lists, because an idle client holds them for hours.
func (s *ServerInfo) shrink() {
	s.Commands, s.Agents, s.Models = slices.Clone(s.Commands), slices.Clone(s.Agents), slices.Clone(s.Models)
}

// Raw returns the whole answer as the CLI sent it, including members that have no field in this
// type.
func (s *ServerInfo) Raw() message.JSON { return s.raw }

// AgentInfo is a subagent that the model can start, with the description by which the model
// chooses it.
type AgentInfo struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Model       string `json:"model,omitempty"`
}

// ModelInfo is a model that the session can use, its names, and the supported efforts and modes.
type ModelInfo struct {
	Value                    string   `json:"value"`
	ResolvedModel            string   `json:"resolvedModel,omitempty"`
	DisplayName              string   `json:"displayName"`
	Description              string   `json:"description"`
	SupportsEffort           bool     `json:"supportsEffort,omitempty"`
	SupportedEffortLevels    []string `json:"supportedEffortLevels,omitempty"`
	SupportsAdaptiveThinking bool     `json:"supportsAdaptiveThinking,omitempty"`
	SupportsThinkingOff      bool     `json:"supportsThinkingOff,omitempty"`
	SupportsFastMode         bool     `json:"supportsFastMode,omitempty"`
	SupportsAutoMode         bool     `json:"supportsAutoMode,omitempty"`
}

// AccountInfo describes the account that the CLI uses and the source of its credentials. It holds no
// secrets.
type AccountInfo struct {
	Email            string `json:"email,omitempty"`
	Organization     string `json:"organization,omitempty"`
	SubscriptionType string `json:"subscriptionType,omitempty"`
	TokenSource      string `json:"tokenSource,omitempty"`
	APIKeySource     string `json:"apiKeySource,omitempty"`
	APIProvider      string `json:"apiProvider,omitempty"`
}
