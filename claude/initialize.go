package claude

import (
	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// initialize is the request that opens the control protocol.
type initialize struct {
	Subtype                string                             `json:"subtype"`
	Hooks                  map[hook.Event][]hook.Registration `json:"hooks,omitempty"`
	JSONSchema             message.JSON                       `json:"jsonSchema,omitempty"`
	ManagedSettings        message.JSON                       `json:"managedSettings,omitempty"`
	SystemPrompt           []string                           `json:"systemPrompt,omitempty"`
	SystemPromptSnapshot   *bool                              `json:"systemPromptSnapshot,omitempty"`
	AppendSystemPrompt     string                             `json:"appendSystemPrompt,omitempty"`
	ExcludeDynamicSections bool                               `json:"excludeDynamicSections,omitempty"`
	PlanModeInstructions   string                             `json:"planModeInstructions,omitempty"`
	ToolAliases            map[string]string                  `json:"toolAliases,omitempty"`
	Agents                 map[string]AgentDefinition         `json:"agents,omitempty"`
	Title                  string                             `json:"title,omitempty"`
	Skills                 []string                           `json:"skills,omitzero"`
	Plugins                []Plugin                           `json:"plugins,omitempty"`
	PromptSuggestions      bool                               `json:"promptSuggestions,omitempty"`
	AgentProgressSummaries bool                               `json:"agentProgressSummaries,omitempty"`
	ForwardSubagentText    bool                               `json:"forwardSubagentText,omitempty"`
	PerTaskStopAffordance  bool                               `json:"perTaskStopAffordance,omitempty"`
	SupportedDialogKinds   []string                           `json:"supportedDialogKinds,omitempty"`
}

func (l *launch) initialize() ([]byte, error) {
	req := initialize{
		Subtype:                "initialize",
		Hooks:                  l.hooks.Events,
		JSONSchema:             l.JSONSchema,
		ManagedSettings:        l.ManagedSettings,
		PlanModeInstructions:   l.PlanModeInstructions,
		ToolAliases:            l.ToolAliases,
		Agents:                 l.Agents,
		Title:                  l.Title,
		Skills:                 l.Skills,
		PromptSuggestions:      l.PromptSuggestions,
		AgentProgressSummaries: l.AgentProgressSummaries,
		ForwardSubagentText:    l.ForwardSubagentText,
		PerTaskStopAffordance:  l.PerTaskStopAffordance,
		SupportedDialogKinds:   l.SupportedDialogKinds,
	}
	if l.PluginDelivery == PluginsByInitialize {
		req.Plugins = l.localPlugins()
	}
	switch p := l.SystemPrompt.(type) {
	case nil:
		// The official SDKs send an empty system prompt like this.
		req.SystemPrompt = []string{""}
	case PromptText:
		req.SystemPrompt = []string{string(p)}
	case PromptParts:
		req.SystemPrompt = p
	case *PromptCustom:
		req.SystemPrompt, req.SystemPromptSnapshot = p.Parts, p.Snapshot
	case *PromptPreset:
		req.AppendSystemPrompt, req.SystemPromptSnapshot = p.Append, p.Snapshot
		req.ExcludeDynamicSections = p.ExcludeDynamicSections
	}
	return jsonwire.Marshal(req)
}
