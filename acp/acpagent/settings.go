package acpagent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/acpevent"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

var (
	_ agent.ModeSetter   = (*Session)(nil)
	_ agent.EffortSetter = (*Session)(nil)
	_ agent.Tuner        = (*Session)(nil)
	_ agent.ModelSetter  = (*modelled)(nil)
)

// methodSetModel sets the model of an agent whose models are not config options, as in the first versions of the
// protocol.
const methodSetModel = "session/set_model"

// choose applies the options to the session. Agents have different names for modes. An empty mode
// is not sent; "default" means the initial mode unless the agent has a mode of that name.
func (s *Session) choose(ctx context.Context, opts agent.Options) error {
	mode := s.setting(func(all *acpevent.Settings) acpevent.Setting { return all.Mode })
	_, listed := mode.Find(opts.Mode)
	if opts.Mode != "" && opts.Mode != mode.Current && !opts.ModeUnchosen && (listed || opts.Mode != "default") {
		if err := s.SetMode(ctx, opts.Mode); err != nil {
			return err
		}
	}
	if opts.Model != "" {
		if !s.hasModels() {
			return fmt.Errorf("%w: the agent offers no models", agent.ErrUnsupported)
		}
		if _, err := (&modelled{s}).SetModel(ctx, opts.Model); err != nil {
			return err
		}
	}
	if opts.Effort != "" {
		return s.SetEffort(ctx, opts.Effort)
	}
	return nil
}

// setting returns the current state of a setting.
func (s *Session) setting(which func(*acpevent.Settings) acpevent.Setting) (now acpevent.Setting) {
	s.kit.Do(func() { now = which(&s.settings) })
	return now
}

func modeOf(all *acpevent.Settings) acpevent.Setting   { return all.Mode }
func modelOf(all *acpevent.Settings) acpevent.Setting  { return all.Model }
func effortOf(all *acpevent.Settings) acpevent.Setting { return all.Effort }

// values returns the valid values of a setting, or nil if the setting does not exist.
func values(s acpevent.Setting) (list []string) {
	for _, c := range s.Values {
		list = append(list, c.Value)
	}
	return list
}

// Modes returns the names of the modes that the agent offers for this session, as a copy.
func (s *Session) Modes() []string { return values(s.setting(modeOf)) }

// SetMode changes the mode of the session. The error for a mode that [Session.Modes] does not list
// is [agent.ErrInvalid].
func (s *Session) SetMode(ctx context.Context, mode string) error {
	now := s.setting(modeOf)
	if err := s.kit.Choose("mode", mode, values(now)); err != nil {
		return err
	}
	if now.ID != "" {
		return s.setOption(ctx, now.ID, mode)
	}
	request := &acp.SetSessionModeRequest{SessionID: acp.SessionID(s.ID()), ModeID: acp.SessionModeID(mode)}
	return s.callThen(ctx, acp.MethodSessionSetMode, request, new(json.RawMessage), func() { s.setMode(mode) })
}

// setMode stores a mode that the agent has set.
func (s *Session) setMode(mode string) {
	s.kit.Do(func() { s.settings.Mode.Current = mode })
	s.announce()
}

// setModel stores a model that the agent has set.
func (s *Session) setModel(model string) {
	s.kit.Do(func() { s.settings.Model.Current = model })
	s.announce()
}

// setOptions stores all options after one was changed.
func (s *Session) setOptions(answer *acp.SetSessionConfigOptionResponse) {
	s.kit.Do(func() { s.settings.Take(answer.ConfigOptions) })
	s.announce()
}

// Efforts returns the efforts that the agent offers for the current model, as a copy.
func (s *Session) Efforts() []string { return values(s.setting(effortOf)) }

// SetEffort changes the effort of the model; empty restores the session's first effort. The error is [agent.ErrInvalid] for
// an effort that [Session.Efforts] does not return.
func (s *Session) SetEffort(ctx context.Context, effort string) error {
	if effort == "" {
		s.kit.Do(func() { effort = s.effort })
	}
	now := s.setting(effortOf)
	if err := s.kit.Choose("effort", effort, values(now)); err != nil {
		return err
	}
	return s.setOption(ctx, now.ID, effort)
}

// Tune sets config options of the agent by their ids. It cannot restore earlier values.
func (s *Session) Tune(ctx context.Context, settings map[string]json.RawMessage) error {
	if err := s.kit.Alive(); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(settings)) {
		known := false
		s.kit.Do(func() { _, known = s.settings.Options[id] })
		if !known || string(settings[id]) == "null" {
			return fmt.Errorf("%w: option %q", agent.ErrInvalid, id)
		}
		if err := s.setRaw(ctx, id, settings[id]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) setOption(ctx context.Context, id, value string) error {
	return s.setRaw(ctx, id, json.RawMessage(event.Quote(value)))
}

// setRaw sets a config option and stores the returned options, because one option can change others.
func (s *Session) setRaw(ctx context.Context, id string, value json.RawMessage) error {
	request := &acp.SetSessionConfigOptionRequest{SessionID: acp.SessionID(s.ID()), ConfigID: acp.SessionConfigID(id), Value: value}
	if v := string(value); v == "true" || v == "false" {
		request.Type = acp.Some("boolean")
	}
	var answer acp.SetSessionConfigOptionResponse
	return s.callThen(ctx, acp.MethodSessionSetConfigOption, request, &answer, func() { s.setOptions(&answer) })
}

// hasModels reports whether the agent offers models.
func (s *Session) hasModels() bool { return len(s.setting(modelOf).Values) > 0 }

// modelled is a session of an agent that offers models.
type modelled struct{ *Session }

// SetModel changes the model, by its id or its name; empty restores the session's first model.
func (s *modelled) SetModel(ctx context.Context, model string) (string, error) {
	if model == "" {
		s.kit.Do(func() { model = s.model })
	}
	now := s.setting(modelOf)
	if c, ok := now.Find(model); ok {
		model = c.Value
	}
	if err := s.kit.Choose("model", model, values(now)); err != nil {
		return "", err
	}
	if now.ID != "" {
		return model, s.setOption(ctx, now.ID, model)
	}
	request := map[string]string{"sessionId": s.ID(), "modelId": model}
	if err := s.callThen(ctx, methodSetModel, request, new(json.RawMessage), func() { s.setModel(model) }); err != nil {
		return "", err
	}
	return model, nil
}
