package editor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// config holds the choices of a session: the mode, which the protocol has in two forms, the model, and the choices
// that depend on the model.
type config struct {
	modes    []string
	mode     string
	models   []agent.Entry
	model    string
	effort   string
	fast     bool
	ultra    bool   // the model may start dynamic workflows on every task
	tunes    bool   // the agent supports changing settings
	commands string // the last list sent to the client
}

// modeNames describe the known modes.
var modeNames = map[string][2]string{
	"default":           {"Manual", "Always ask before making changes"},
	"acceptEdits":       {"Accept edits", "Automatically accept all file edits"},
	"plan":              {"Plan", "Create a plan before making changes"},
	"auto":              {"Auto", "The agent decides about permissions"},
	"dontAsk":           {"Don't ask", "Refuse what would need a permission"},
	"bypassPermissions": {"Bypass permissions", "Never ask, also not before dangerous actions"},
}

// modelInfo holds the settings that depend on a model.
type modelInfo struct {
	DisplayName           string   `json:"displayName"`
	SupportedEffortLevels []string `json:"supportedEffortLevels"`
	SupportsFastMode      bool     `json:"supportsFastMode"`
}

// The ids of the options, and the value that selects the agent's default.
const (
	configMode   = "mode"
	configModel  = "model"
	configEffort = "effort"
	configFast   = "fast"
	configUltra  = "ultracode"
	defaultValue = "default"
)

// read stores the settings that an agent offers.
func (c *config) read(live agent.Session, o agent.Options) {
	if m, ok := live.(agent.ModeSetter); ok {
		c.modes = slices.Clone(m.Modes())
		own := ""
		if teller, ok := live.(interface{ Mode() string }); ok { // the session runs elsewhere, and may be in any mode
			own = teller.Mode()
		}
		c.mode = cmp.Or(c.mode, own, o.Mode, defaultValue)
	}
	_, c.tunes = live.(agent.Tuner)
	if catalog, ok := live.(agent.Catalog); ok {
		if list, err := catalog.Models(context.Background()); err == nil {
			c.models = list
		}
	}
	c.model = cmp.Or(c.model, o.Model)
	if c.model == "" {
		c.model = cmp.Or(configured(live), defaultValue)
	}
	c.effort = cmp.Or(c.effort, defaultValue)
}

// reportTime limits the time for requesting the model of a session.
const reportTime = 5 * time.Second

// configured is the model that the agent's own configuration selects; empty for the default or an unknown
// model.
func configured(live agent.Session) string {
	r, ok := live.(agent.ModelReporter)
	if !ok {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), reportTime)
	defer cancel()
	model, err := r.Model(ctx)
	if err != nil {
		return ""
	}
	return model
}

func (c *config) modeIDs() []string { return c.modes }

// modeState returns the modes in the older form, or null if there are no modes.
func (c *config) modeState() acp.Optional[acp.SessionModeState] {
	if len(c.modes) == 0 {
		return acp.Optional[acp.SessionModeState]{}
	}
	s := acp.SessionModeState{CurrentModeID: acp.SessionModeID(c.mode), AvailableModes: []acp.SessionMode{}}
	for _, id := range c.modes {
		name, description := describeMode(id)
		s.AvailableModes = append(s.AvailableModes, acp.SessionMode{ID: acp.SessionModeID(id), Name: name, Description: acp.NonZero(description)})
	}
	return acp.Some(s)
}

func describeMode(id string) (name, description string) {
	if d, ok := modeNames[id]; ok {
		return d[0], d[1]
	}
	return id, ""
}

// info returns the modelInfo of the current model.
func (c *config) info() (m modelInfo) {
	for _, e := range c.models {
		if e.Name == c.model && json.Unmarshal(e.Data, &m) == nil {
			return m
		}
	}
	return modelInfo{}
}

// value is one of the values of an option.
type value struct{ id, name, description string }

// choose returns an option with a list of values.
func choose(id, name, description string, category acp.SessionConfigOptionCategory, current string, values []value) acp.SessionConfigOption {
	list := []acp.SessionConfigSelectOption{}
	for _, v := range values {
		list = append(list, acp.SessionConfigSelectOption{Value: acp.SessionConfigValueID(v.id), Name: v.name, Description: acp.NonZero(v.description)})
	}
	raw, err := jsonwire.Marshal(list)
	if err != nil {
		raw = json.RawMessage("[]") // texts can be encoded
	}
	return acp.SessionConfigOption{
		Type: acp.SessionConfigOptionIsSelect, ID: acp.SessionConfigID(id), Name: name, Description: acp.Some(description), Category: acp.Some(category),
		Value: &acp.SessionConfigSelect{CurrentValue: acp.SessionConfigValueID(current), Options: raw},
	}
}

// options returns the config options that the agent and its model support.
func (c *config) options(f Features) []acp.SessionConfigOption {
	list := []acp.SessionConfigOption{}
	if len(c.modes) > 0 {
		var values []value
		for _, id := range c.modes {
			name, description := describeMode(id)
			values = append(values, value{id, name, description})
		}
		list = append(list, choose(configMode, "Mode", "Session permission mode", acp.SessionConfigOptionCategoryMode, c.mode, values))
	}
	if len(c.models) > 0 {
		list = append(list, choose(configModel, "Model", "AI model to use", acp.SessionConfigOptionCategoryModel, c.model, c.modelValues()))
	}
	info := c.info()
	if len(info.SupportedEffortLevels) > 0 && c.tunes {
		values := []value{{id: defaultValue, name: "Default"}}
		for _, l := range info.SupportedEffortLevels {
			if l != "" {
				values = append(values, value{id: l, name: upperFirst(l)})
			}
		}
		list = append(list, choose(configEffort, "Effort", "Available effort levels for this model", acp.SessionConfigOptionCategoryThoughtLevel, c.effort, values))
	}
	if info.SupportsFastMode && c.tunes && f.Boolean {
		list = append(list, toggle(configFast, "Fast mode", "Faster responses on supported models", c.fast))
	}
	if slices.Contains(info.SupportedEffortLevels, ultraEffort) && c.tunes && f.Boolean {
		list = append(list, toggle(configUltra, "Ultracode", "Dynamic workflows on every task, at any effort level", c.ultra))
	}
	return list
}

// upperFirst returns a text with an upper-case first character.
func upperFirst(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// ultraEffort is the effort level of models that can run dynamic workflows: the CLI offers both to the
// same models.
const ultraEffort = "xhigh"

// toggle returns an option of the model with the values on and off.
func toggle(id, name, description string, on bool) acp.SessionConfigOption {
	return acp.SessionConfigOption{
		Type: acp.SessionConfigOptionIsBoolean, ID: acp.SessionConfigID(id), Name: name, Description: acp.Some(description),
		Category: acp.Some(acp.SessionConfigOptionCategoryModelConfig), Value: &acp.SessionConfigBoolean{CurrentValue: on},
	}
}

// modelValues returns the models, including the current one even if it is not listed.
func (c *config) modelValues() []value {
	var values []value
	known := false
	for _, e := range c.models {
		var m modelInfo
		if json.Unmarshal(e.Data, &m) != nil || m.DisplayName == "" {
			m.DisplayName = e.Name
		}
		values = append(values, value{e.Name, m.DisplayName, e.Description})
		known = known || e.Name == c.model
	}
	if !known {
		values = append(values, value{id: c.model, name: c.model})
	}
	return values
}

// event applies the changes in an event of the agent.
func (c *config) event(ev event.Event, f Features) []acp.SessionUpdate {
	mode := ""
	var out []acp.SessionUpdate
	switch ev := ev.(type) {
	case *event.Status:
		mode = ev.PermissionMode
	case *event.SystemInit:
		mode = ev.PermissionMode
	case *event.SessionInfo:
		if ev.PermissionMode != nil {
			mode = *ev.PermissionMode
		}
		if ev.Commands != "" {
			if u, changed := c.setCommands(commandEntries(ev.Commands)); changed {
				out = append(out, u)
			}
		}
	}
	return append(out, c.setMode(mode, f)...)
}

// setMode changes the mode and returns the updates for it, in both forms.
func (c *config) setMode(mode string, f Features) []acp.SessionUpdate {
	if mode == "" || mode == c.mode || len(c.modes) == 0 {
		return nil
	}
	c.mode = mode
	if !slices.Contains(c.modes, mode) {
		c.modes = append(c.modes, mode) // the agent is in a mode that it has not listed
	}
	return []acp.SessionUpdate{
		{SessionUpdate: acp.SessionUpdateIsCurrentModeUpdate, Value: &acp.CurrentModeUpdate{CurrentModeID: acp.SessionModeID(mode)}},
		c.update(f),
	}
}

func (c *config) update(f Features) acp.SessionUpdate {
	return acp.SessionUpdate{SessionUpdate: acp.SessionUpdateIsConfigOptionUpdate, Value: &acp.ConfigOptionUpdate{ConfigOptions: c.options(f)}}
}

// commandEntries converts commands for an event.
func commandEntries(list event.JSON) []agent.Entry {
	var all []agent.Entry
	for _, e := range list.Elements() {
		if e != "" && e[0] == '"' {
			all = append(all, agent.Entry{Name: e.Text()})
			continue
		}
		in := input(e)
		all = append(all, agent.Entry{Name: in.str("name"), Description: in.str("description"), Data: json.RawMessage(e)})
	}
	return all
}

// isInternal reports whether a command is only for internal use of the agent.
func isInternal(name string) bool {
	return name == "" || strings.HasPrefix(name, "__") || name == "heapdump" || name == "workflow-launch-exec"
}

// setCommands returns the update for a list of commands, and whether the list has changed.
func (c *config) setCommands(list []agent.Entry) (acp.SessionUpdate, bool) {
	u := &acp.AvailableCommandsUpdate{AvailableCommands: []acp.AvailableCommand{}}
	for _, e := range list {
		name := strings.TrimPrefix(e.Name, "/")
		if isInternal(name) {
			continue
		}
		cmd := acp.AvailableCommand{Name: name, Description: e.Description}
		if hint := input(e.Data).str("argumentHint"); hint != "" {
			cmd.Input = acp.Some(acp.AvailableCommandInput{Hint: acp.Some(hint)})
		}
		u.AvailableCommands = append(u.AvailableCommands, cmd)
	}
	text, err := jsonwire.Marshal(u)
	if err != nil || string(text) == c.commands {
		return acp.SessionUpdate{}, false
	}
	c.commands = string(text)
	return acp.SessionUpdate{SessionUpdate: acp.SessionUpdateIsAvailableCommandsUpdate, Value: u}, true
}

// state returns the settings for the answer to a request that opens a session.
func (s *session) state() (acp.Optional[acp.SessionModeState], []acp.SessionConfigOption) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config.modeState(), s.config.options(s.mapper.Features)
}

// modeChanged stores a mode and sends the updates about it, except in a form that the client does not need.
func (s *session) modeChanged(mode, without string) {
	s.mu.Lock()
	updates := s.config.setMode(mode, s.mapper.Features)
	s.mu.Unlock()
	for _, u := range updates {
		if u.SessionUpdate != without {
			s.send(Update{SessionUpdate: u})
		}
	}
}

// switchMode changes the mode at the client's request.
func (s *session) switchMode(ctx context.Context, mode string) error {
	s.mu.Lock()
	known := slices.Contains(s.config.modes, mode)
	s.mu.Unlock()
	if !known {
		return invalidf("modeId", mode, "unknown mode %q", mode)
	}
	live, err := s.agentOf(ctx)
	if err != nil {
		return err
	}
	setter, ok := live.(agent.ModeSetter)
	if !ok {
		return fmt.Errorf("%w: the agent has no modes", agent.ErrUnsupported)
	}
	return setter.SetMode(ctx, mode)
}

func (s *server) setMode(ctx context.Context, p *acp.SetSessionModeRequest) (any, error) {
	one := s.session(string(p.SessionID))
	if one == nil {
		return nil, notFound(string(p.SessionID))
	}
	if err := one.switchMode(ctx, string(p.ModeID)); err != nil {
		return nil, err
	}
	one.modeChanged(string(p.ModeID), acp.SessionUpdateIsCurrentModeUpdate) // the client already has the new mode
	return &acp.SetSessionModeResponse{}, nil
}

func (s *server) setConfigOption(ctx context.Context, p *acp.SetSessionConfigOptionRequest) (any, error) {
	one := s.session(string(p.SessionID))
	if one == nil {
		return nil, notFound(string(p.SessionID))
	}
	if err := one.choose(ctx, string(p.ConfigID), p.Value); err != nil {
		return nil, err
	}
	_, options := one.state()
	return &acp.SetSessionConfigOptionResponse{ConfigOptions: options}, nil
}

// choose sets an option.
func (s *session) choose(ctx context.Context, id string, raw json.RawMessage) error {
	value := text(raw)
	if id == configMode {
		if err := s.switchMode(ctx, value); err != nil {
			return err
		}
		s.modeChanged(value, acp.SessionUpdateIsConfigOptionUpdate) // the response contains the options
		return nil
	}
	if err := s.offers(id, raw); err != nil {
		return err
	}
	live, err := s.agentOf(ctx)
	if err != nil {
		return err
	}
	switch id {
	case configModel:
		return s.setModel(ctx, live, value)
	case configEffort:
		return s.tune(ctx, live, "effortLevel", value, func(c *config) { c.effort = value })
	}
	on := string(raw) == "true"
	if id == configUltra {
		return s.tune(ctx, live, "ultracode", on, func(c *config) { c.ultra = on })
	}
	return s.tune(ctx, live, "fastMode", on, func(c *config) { c.fast = on })
}

// offers returns an error if there is no such option, or it does not have the value.
func (s *session) offers(id string, raw json.RawMessage) error {
	s.mu.Lock()
	list := s.config.options(s.mapper.Features)
	s.mu.Unlock()
	i := slices.IndexFunc(list, func(o acp.SessionConfigOption) bool { return string(o.ID) == id })
	if i < 0 {
		return invalidf("configId", id, "unknown option %q", id)
	}
	if list[i].Type == acp.SessionConfigOptionIsBoolean {
		if v := string(raw); v != "true" && v != "false" {
			return invalidf("configId", id, "the value of %q is true or false", id)
		}
		return nil
	}
	var values []acp.SessionConfigSelectOption
	if sel, ok := list[i].Value.(*acp.SessionConfigSelect); ok && json.Unmarshal(sel.Options, &values) == nil {
		for _, v := range values {
			if string(v.Value) == text(raw) {
				return nil
			}
		}
	}
	return invalidf("value", text(raw), "the option %q has no value %q", id, text(raw))
}

func (s *session) setModel(ctx context.Context, live agent.Session, model string) error {
	setter, ok := live.(agent.ModelSetter)
	if !ok {
		return fmt.Errorf("%w: the model cannot be changed", agent.ErrUnsupported)
	}
	name := model
	if name == defaultValue {
		name = ""
	}
	if _, err := setter.SetModel(ctx, name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config.model, s.opts.Model = model, name
	if info := s.config.info(); !slices.Contains(info.SupportedEffortLevels, s.config.effort) {
		s.config.effort = defaultValue
	}
	return nil
}

// tune changes a setting of the agent; the default value resets it.
func (s *session) tune(ctx context.Context, live agent.Session, name string, v any, note func(*config)) error {
	tuner, ok := live.(agent.Tuner)
	if !ok {
		return fmt.Errorf("%w: the agent does not support settings", agent.ErrUnsupported)
	}
	raw, err := jsonwire.Marshal(v)
	if err != nil {
		return err
	}
	if v == defaultValue {
		raw = json.RawMessage("null")
	}
	if err := tuner.Tune(ctx, map[string]json.RawMessage{name: raw}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	note(&s.config)
	return nil
}
