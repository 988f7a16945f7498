package claude

import (
	"errors"
	"fmt"
	"strings"
)

// OptionError says which options cannot work, alone or together. Nothing has
// been started then.
type OptionError struct{ Err error }

func (e *OptionError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *OptionError) Unwrap() error { return e.Err }

// check refuses options that cannot work, before anything is started.
func (o *Options) check() error {
	if err := o.conflict(); err != nil {
		return &OptionError{Err: err}
	}
	return nil
}

func (o *Options) conflict() error {
	switch {
	case o.FallbackModel != "" && o.FallbackModel == o.Model:
		return errors.New("claude: FallbackModel is the same as Model")
	case o.SessionID != "" && (o.Resume != "" || o.Continue) && !o.ForkSession:
		return errors.New("claude: SessionID cannot be used with Resume or Continue unless ForkSession is set")
	case o.SessionID != "" && !validUUID(o.SessionID):
		return fmt.Errorf("claude: SessionID %q is not a UUID", o.SessionID)
	case o.Thinking != nil && o.MaxThinkingTokens != nil:
		return errors.New("claude: Thinking and MaxThinkingTokens are both set")
	case o.Thinking != nil && o.Thinking.Type == ThinkingDisabled && o.Thinking.Display != "":
		return errors.New("claude: Thinking.Display has no meaning when thinking is disabled")
	case o.JSONSchema != "" && !validJSON(o.JSONSchema):
		return errors.New("claude: JSONSchema is not JSON")
	case o.ManagedSettings != "" && !validJSON(o.ManagedSettings):
		return errors.New("claude: ManagedSettings is not JSON")
	}
	for _, p := range o.Plugins {
		if p.Type != "" && p.Type != "local" {
			return fmt.Errorf("claude: Plugins: type %q is not supported, only local ones are", p.Type)
		}
	}
	if err := errors.Join(checkSkills(o.Skills), checkServers(o.MCPServers), o.checkStore(), o.checkPermission(), o.Hooks.check()); err != nil {
		return err
	}
	if o.Sandbox != nil && o.Settings != "" && !strings.HasPrefix(strings.TrimSpace(o.Settings), "{") {
		return errors.New("claude: Sandbox cannot be laid over Settings that are a file; give the settings as JSON")
	}
	for flag := range o.ExtraArgs {
		if flag == "" || strings.HasPrefix(flag, "-") || strings.ContainsAny(flag, "= ") {
			return fmt.Errorf("claude: ExtraArgs: %q is not the name of a flag", flag)
		}
	}
	return nil
}
