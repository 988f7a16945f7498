package editor

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
)

// claudeOptions overrides the options of a session with those in _meta.claudeCode.options, which
// have the names of the official SDK. This is an extension of the reference adapter. Options that
// an editor cannot set are logged and ignored.
func claudeOptions(o *agent.Options, meta map[string]json.RawMessage, logger *slog.Logger) error {
	var own struct {
		Options map[string]json.RawMessage `json:"options"`
	}
	raw := meta["claudeCode"]
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, &own); err != nil {
		return fmt.Errorf("%w: _meta.claudeCode: %w", agent.ErrInvalid, err)
	}
	for _, name := range slices.Sorted(maps.Keys(own.Options)) {
		to, known := claudeOption(o, name)
		if !known {
			logger.Warn("acp: an option of _meta.claudeCode.options is not supported", "option", name)
			continue
		}
		if err := json.Unmarshal(own.Options[name], to); err != nil {
			return fmt.Errorf("%w: _meta.claudeCode.options.%s: %w", agent.ErrInvalid, name, err)
		}
	}
	return nil
}

// claudeOption returns a pointer to the field that an option of the SDK sets.
func claudeOption(o *agent.Options, name string) (any, bool) {
	switch name {
	case "model":
		return &o.Model, true
	case "fallbackModel":
		return &o.FallbackModel, true
	case "permissionMode":
		return &o.Mode, true
	case "maxTurns":
		return &o.MaxTurns, true
	case "maxBudgetUsd":
		return &o.MaxBudgetUSD, true
	case "maxThinkingTokens":
		return &o.Thinking, true
	case "allowedTools":
		return &o.AllowedTools, true
	case "disallowedTools":
		return &o.DisallowedTools, true
	case "additionalDirectories":
		return &o.AdditionalDirectories, true
	case "settingSources":
		return &o.SettingSources, true
	case "mcpServers":
		return &o.MCPServers, true
	case "agents":
		return &o.Agents, true
	case "systemPrompt":
		return &systemPromptOption{o}, true
	}
	return nil, false
}

// systemPromptOption is a system prompt in the SDK's form: a text, or a preset with an appended
// text.
type systemPromptOption struct{ o *agent.Options }

// UnmarshalJSON reads a text or a preset.
func (p *systemPromptOption) UnmarshalJSON(b []byte) error {
	if strings.HasPrefix(string(b), `"`) {
		return json.Unmarshal(b, &p.o.SystemPrompt)
	}
	var preset struct {
		Append string `json:"append"`
	}
	err := json.Unmarshal(b, &preset)
	p.o.AppendSystemPrompt = preset.Append
	return err
}
