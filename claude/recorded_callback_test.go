package claude_test

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/claude"
)

// callbackOptions set the options that make the CLI call the caller back.
var callbackOptions = map[string]func(*claude.Options, *callAnswers, json.RawMessage) error{
	"canUseTool": func(o *claude.Options, a *callAnswers, _ json.RawMessage) error {
		o.CanUseTool = a.canUseTool
		return nil
	},
	"onElicitation": func(o *claude.Options, a *callAnswers, _ json.RawMessage) error {
		o.OnElicitation = a.onElicitation
		return nil
	},
	"onUserDialog": func(o *claude.Options, a *callAnswers, _ json.RawMessage) error {
		o.OnUserDialog = a.onUserDialog
		return nil
	},
	"supportedDialogKinds": func(o *claude.Options, _ *callAnswers, raw json.RawMessage) error {
		return json.Unmarshal(raw, &o.SupportedDialogKinds)
	},
	"hooks": func(o *claude.Options, a *callAnswers, raw json.RawMessage) (err error) {
		o.Hooks, err = a.hooks(raw)
		return err
	},
}
