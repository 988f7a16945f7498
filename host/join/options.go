package join

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/agent"
)

// Options are the options of an agent that a server may choose on another machine. They cannot name
// a program, a file or an environment variable, and cannot allow a tool in advance: the machine's
// configuration determines these.
type Options struct {
	Resume             string   `json:"resume,omitempty"` // the agent's session to continue; "" starts a new one
	Fork               bool     `json:"fork,omitempty"`
	At                 string   `json:"at,omitempty"`
	ID                 string   `json:"id,omitempty"`
	Model              string   `json:"model,omitempty"`
	FallbackModel      string   `json:"fallback_model,omitempty"`
	Mode               string   `json:"mode,omitempty"`
	ModeUnchosen       bool     `json:"mode_unchosen,omitempty"`
	Effort             string   `json:"effort,omitempty"`
	Thinking           *int64   `json:"thinking,omitempty"`
	SystemPrompt       string   `json:"system_prompt,omitempty"`
	AppendSystemPrompt string   `json:"append_system_prompt,omitempty"`
	DisallowedTools    []string `json:"disallowed_tools,omitempty"`
	MaxTurns           int64    `json:"max_turns,omitempty"`
	MaxBudgetUSD       *float64 `json:"max_budget_usd,omitempty"`
	Partial            bool     `json:"partial,omitempty"`
}

// OptionsOf returns the part of an agent's options that is sent over the link. resume is the
// session to continue, or "" to start a new one.
func OptionsOf(o agent.Options, resume string) Options {
	return Options{
		Resume: resume, Fork: o.Fork, At: o.At, ID: o.ID, Model: o.Model, FallbackModel: o.FallbackModel, Mode: o.Mode, ModeUnchosen: o.ModeUnchosen,
		Effort: o.Effort, Thinking: o.Thinking, SystemPrompt: o.SystemPrompt, AppendSystemPrompt: o.AppendSystemPrompt,
		DisallowedTools: o.DisallowedTools, MaxTurns: o.MaxTurns, MaxBudgetUSD: o.MaxBudgetUSD, Partial: o.Partial,
	}
}

// Agent converts the options to package agent. The directory is not set.
func (o Options) Agent() agent.Options {
	return agent.Options{
		Fork: o.Fork, At: o.At, ID: o.ID, Model: o.Model, FallbackModel: o.FallbackModel, Mode: o.Mode, ModeUnchosen: o.ModeUnchosen,
		Effort: o.Effort, Thinking: o.Thinking, SystemPrompt: o.SystemPrompt, AppendSystemPrompt: o.AppendSystemPrompt,
		DisallowedTools: o.DisallowedTools, MaxTurns: o.MaxTurns, MaxBudgetUSD: o.MaxBudgetUSD, Partial: o.Partial,
	}
}

// Encode returns the options as JSON.
func (o Options) Encode() (json.RawMessage, error) { return json.Marshal(o) }
