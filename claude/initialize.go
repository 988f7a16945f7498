package claude

// initialize is the request that opens the control protocol.
type initialize struct {
	Subtype                string                           `json:"subtype"`
	Hooks                  map[HookEvent][]hookRegistration `json:"hooks,omitempty"`
	JSONSchema             JSON                             `json:"jsonSchema,omitempty"`
	SystemPrompt           []string                         `json:"systemPrompt,omitempty"`
	SystemPromptSnapshot   *bool                            `json:"systemPromptSnapshot,omitempty"`
	AppendSystemPrompt     string                           `json:"appendSystemPrompt,omitempty"`
	ExcludeDynamicSections bool                             `json:"excludeDynamicSections,omitempty"`
	PlanModeInstructions   string                           `json:"planModeInstructions,omitempty"`
	ToolAliases            map[string]string                `json:"toolAliases,omitempty"`
	Agents                 map[string]AgentDefinition       `json:"agents,omitempty"`
	Title                  string                           `json:"title,omitempty"`
	Skills                 []string                         `json:"skills,omitzero"`
	Plugins                []Plugin                         `json:"plugins,omitempty"`
	PromptSuggestions      bool                             `json:"promptSuggestions,omitempty"`
	AgentProgressSummaries bool                             `json:"agentProgressSummaries,omitempty"`
	ForwardSubagentText    bool                             `json:"forwardSubagentText,omitempty"`
	PerTaskStopAffordance  bool                             `json:"perTaskStopAffordance,omitempty"`
	SupportedDialogKinds   []string                         `json:"supportedDialogKinds,omitempty"`
}

func (o *Options) initialize() ([]byte, error) {
	req := initialize{
		Subtype:                "initialize",
		Hooks:                  o.registerHooks(),
		JSONSchema:             o.JSONSchema,
		PlanModeInstructions:   o.PlanModeInstructions,
		ToolAliases:            o.ToolAliases,
		Agents:                 o.Agents,
		Title:                  o.Title,
		Skills:                 o.Skills,
		PromptSuggestions:      o.PromptSuggestions,
		AgentProgressSummaries: o.AgentProgressSummaries,
		ForwardSubagentText:    o.ForwardSubagentText,
		PerTaskStopAffordance:  o.PerTaskStopAffordance,
		SupportedDialogKinds:   o.SupportedDialogKinds,
	}
	if o.PluginDelivery == PluginsByInitialize {
		req.Plugins = o.localPlugins()
	}
	switch p := o.SystemPrompt.(type) {
	case nil:
		// The official SDKs agree on an empty system prompt here.
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
	return encodeJSON(req)
}
