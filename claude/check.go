package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/claudedir"
)

// OptionError is returned for invalid options or combinations of options, before a process is
// started. It wraps all mistakes.
type OptionError struct{ Err error }

func (e *OptionError) Error() string { return e.Err.Error() }

// Unwrap returns the joined mistakes, so that [errors.Is] and [errors.As] find each of them.
func (e *OptionError) Unwrap() error { return e.Err }

// optionCheck checks one field of Options, alone or together with other fields.
type optionCheck struct {
	field string
	check func(o *Options) error
}

// optionChecks are all checks, in the order of execution.
var optionChecks = []optionCheck{
	{"FallbackModel", func(o *Options) error {
		return refuse(o.FallbackModel != "" && o.FallbackModel == o.Model, "is the same as Model")
	}},
	{"Effort", func(o *Options) error { return oneOf(o.Effort, "low", "medium", "high", "xhigh", "max") }},
	{"Thinking", (*Options).checkThinking},
	{"MaxThinkingTokens", func(o *Options) error {
		return refuse(o.MaxThinkingTokens != nil && *o.MaxThinkingTokens < 0, "is negative")
	}},
	{"MaxAbsence", func(o *Options) error { return refuse(o.MaxAbsence < 0, "is negative") }},
	{"MaxTurns", func(o *Options) error { return refuse(o.MaxTurns < 0, "is negative") }},
	{"MaxBudgetUSD", func(o *Options) error {
		return refuse(o.MaxBudgetUSD != nil && (!(*o.MaxBudgetUSD >= 0) || math.IsInf(*o.MaxBudgetUSD, 0)), "is not an amount of money")
	}},
	{"TaskBudget", func(o *Options) error { return refuse(o.TaskBudget != nil && *o.TaskBudget < 0, "is negative") }},
	{"JSONSchema", func(o *Options) error { return refuse(!jsonOrUnset(o.JSONSchema), "is not JSON") }},
	{"ManagedSettings", func(o *Options) error { return refuse(!jsonOrUnset(o.ManagedSettings), "is not JSON") }},
	{"Settings", func(o *Options) error {
		return refuse(inlineJSON(o.Settings) && !json.Valid([]byte(strings.TrimPrefix(o.Settings, "\ufeff"))), "begins like JSON and is not JSON")
	}},
	{"Sandbox", func(o *Options) error {
		return refuse(o.Sandbox != nil && o.Settings != "" && !inlineJSON(o.Settings), "cannot be laid over Settings that are a file; give the settings as JSON")
	}},
	{"Continue", func(o *Options) error {
		return refuse(o.Continue && o.Resume != "", "cannot be used with Resume: they name different sessions")
	}},
	{"SessionID", (*Options).checkSessionID},
	{"SessionStore", (*Options).checkStore},
	{"SessionStoreFlush", func(o *Options) error {
		return oneOf(string(o.SessionStoreFlush), string(FlushBatched), string(FlushEager))
	}},
	{"SessionLock", func(o *Options) error {
		return oneOf(string(o.SessionLock), string(LockFork), string(LockAttach), string(LockSteal), string(LockOff))
	}},
	{"SettingSources", func(o *Options) error { return noBlank(o.SettingSources) }},
	{"Plugins", (*Options).checkPlugins},
	{"PluginDelivery", func(o *Options) error { return oneOf(string(o.PluginDelivery), string(PluginsByInitialize)) }},
	{"Skills", func(o *Options) error { return checkSkills(o.Skills) }},
	{"MCPServers", func(o *Options) error { return checkServers(o.MCPServers) }},
	{"RequireMCP", func(o *Options) error { return noBlank(o.RequireMCP) }},
	{"PermissionPromptToolName", (*Options).checkPromptTool},
	{"SupportedDialogKinds", func(o *Options) error {
		return refuse(len(o.SupportedDialogKinds) > 0 && o.OnUserDialog == nil, "needs OnUserDialog")
	}},
	{"Hooks", func(o *Options) error { return o.Hooks.Check() }},
	{"Weight", func(o *Options) error { return refuse(o.Weight < 0, "is negative") }},
	{"MaxLine", func(o *Options) error { return refuse(o.MaxLine < 0, "is negative") }},
	{"MaxBuffered", func(o *Options) error { return refuse(o.MaxBuffered < 0, "is negative") }},
	{"Env", (*Options).checkEnv},
	{"ExtraArgs", (*Options).checkExtraArgs},
}

// Check returns an *[OptionError] for options that cannot work, without starting a process.
// The error names the fields.
func (o *Options) Check() error {
	for _, c := range optionChecks {
		err := c.check(o)
		if err == nil {
			continue
		}
		if !strings.HasPrefix(err.Error(), "claude: ") {
			err = fmt.Errorf("claude: %s %w", c.field, err)
		}
		return &OptionError{Err: err}
	}
	return nil
}

// refuse returns an error with the text why if bad is true.
func refuse(bad bool, why string) error {
	if bad {
		return errors.New(why)
	}
	return nil
}

// oneOf returns an error for a value that is neither "" nor known.
func oneOf(value string, known ...string) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	return fmt.Errorf("is %q and not one of %s", value, strings.Join(known, ", "))
}

func noBlank(names []string) error {
	return refuse(slices.ContainsFunc(names, func(s string) bool { return strings.TrimSpace(s) == "" }), "has a blank name")
}

func (o *Options) checkThinking() error {
	t := o.Thinking
	if t == nil {
		return nil
	}
	switch {
	case o.MaxThinkingTokens != nil:
		return errors.New("and MaxThinkingTokens are both set")
	case t.Type == ThinkingDisabled && t.Display != "":
		return errors.New("has a Display, which has no meaning when thinking is disabled")
	case t.BudgetTokens < 0:
		return errors.New("has a negative budget")
	}
	return oneOf(string(t.Type), string(ThinkingAdaptive), string(ThinkingEnabled), string(ThinkingDisabled))
}

func (o *Options) checkSessionID() error {
	switch {
	case o.SessionID == "":
		return nil
	case (o.Resume != "" || o.Continue) && !o.ForkSession:
		return errors.New("cannot be used with Resume or Continue unless ForkSession is set")
	case !claudedir.ValidID(o.SessionID):
		return fmt.Errorf("%q is not a UUID", o.SessionID)
	}
	return nil
}

func (o *Options) checkPlugins() error {
	for _, p := range o.Plugins {
		switch {
		case p.Type != "" && p.Type != "local":
			return fmt.Errorf("has the type %q, which is not supported, only local is", p.Type)
		case p.Path == "":
			return errors.New("has one without a path")
		}
	}
	return nil
}

func (o *Options) checkEnv() error {
	for name, value := range o.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return fmt.Errorf("has the variable %q, which no environment can hold", name)
		}
	}
	return nil
}

// secretFlags maps flags that can hold a secret and have no variant with a file to the fields
// that pass it to the CLI another way.
var secretFlags = map[string]string{"agents": "Agents", "managed-settings": "ManagedSettings", "plan-mode-instructions": "PlanModeInstructions"}

func (o *Options) checkExtraArgs() error {
	for flag := range o.ExtraArgs {
		if flag == "" || strings.HasPrefix(flag, "-") || strings.ContainsAny(flag, "= ") {
			return fmt.Errorf("has %q, which is not the name of a flag", flag)
		}
		if field := secretFlags[flag]; field != "" {
			return fmt.Errorf("has %s, which every user of the machine could read there; use the field %s", flag, field)
		}
	}
	return nil
}

func jsonOrUnset(j message.JSON) bool { return j == "" || validJSON(j) }

func validJSON(j message.JSON) bool { return json.Valid([]byte(j)) }

// errEmptyPrompt is the error of a prompt without text or blocks.
var errEmptyPrompt = &OptionError{Err: errors.New("claude: the prompt is empty")}

// emptyPrompt reports whether a prompt has no content, which the API refuses.
func emptyPrompt(content []message.InputBlock) bool {
	for _, block := range content {
		if text, ok := block.(*message.Text); !ok || strings.TrimSpace(text.Text) != "" {
			return false
		}
	}
	return true
}
