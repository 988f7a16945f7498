package acpevent

import (
	"cmp"
	"encoding/json"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent/event"
)

// Setting is a choice in a session: its mode, its model or the effort of the model.
type Setting struct {
	ID      string   // of the config option; "" if the session has a method for it
	Current string   // the current value
	Values  []Choice // the values that the agent offers
}

// Choice is a value of a [Setting].
type Choice struct {
	Value       string
	Name        string
	Description string
	Data        event.JSON // everything that the agent reports about it
}

// Find returns the choice with this value or name, or false if it is not found.
func (s *Setting) Find(value string) (Choice, bool) {
	for _, byName := range []bool{false, true} {
		for _, c := range s.Values {
			if c.Value == value || byName && c.Name == value {
				return c, true
			}
		}
	}
	return Choice{}, false
}

// Settings holds the models, modes and other choices that an agent offers in a session. The zero
// value offers no choices.
type Settings struct {
	Mode, Model, Effort Setting
	Options             map[string]acp.SessionConfigOption // all config options by their id
}

// Begin takes over the answer to session/new, session/load, session/resume or session/fork. If an agent has both forms,
// the member modes wins over a config option for modes, and a config option for models over the member models, because
// agents keep these two current.
func (s *Settings) Begin(modes acp.Optional[acp.SessionModeState], options acp.Optional[[]acp.SessionConfigOption], extra map[string]json.RawMessage) {
	s.Take(options.Or(nil))
	if m, ok := modes.Get(); ok && len(m.AvailableModes) > 0 {
		s.Mode = Setting{Current: string(m.CurrentModeID)}
		for _, one := range m.AvailableModes {
			s.Mode.Values = append(s.Mode.Values, Choice{Value: string(one.ID), Name: one.Name, Description: one.Description.Or(""), Data: encoded(one)})
		}
	}
	if s.Model.ID == "" {
		s.Model = models(event.JSON(extra["models"]))
	}
}

// models reads the member models, which early versions of the protocol had.
func models(state event.JSON) (s Setting) {
	current, _ := state.Member("currentModelId")
	s.Current = current.Text()
	available, _ := state.Member("availableModels")
	for _, one := range available.Elements() {
		id, _ := one.Member("modelId")
		name, _ := one.Member("name")
		description, _ := one.Member("description")
		s.Values = append(s.Values, Choice{Value: id.Text(), Name: name.Text(), Description: description.Text(), Data: one})
	}
	return s
}

// Take stores config options, which replace all earlier ones.
func (s *Settings) Take(options []acp.SessionConfigOption) {
	if len(options) == 0 {
		return
	}
	s.Options = map[string]acp.SessionConfigOption{}
	s.Effort = Setting{}
	modes := s.Mode
	for _, o := range options {
		s.Options[string(o.ID)] = o
		to := map[acp.SessionConfigOptionCategory]*Setting{
			acp.SessionConfigOptionCategoryMode: &s.Mode, acp.SessionConfigOptionCategoryModel: &s.Model, acp.SessionConfigOptionCategoryThoughtLevel: &s.Effort,
		}[o.Category.Or("")]
		if choice, ok := o.Value.(*acp.SessionConfigSelect); ok && to != nil {
			*to = Setting{ID: string(o.ID), Current: string(choice.CurrentValue), Values: choicesOf(choice)}
		}
	}
	if modes.ID == "" && len(modes.Values) > 0 { // the option only changes the current session mode
		modes.Current = cmp.Or(s.Mode.Current, modes.Current)
		s.Mode = modes
	}
}

// choicesOf returns the values of an option, which can be grouped.
func choicesOf(o *acp.SessionConfigSelect) (list []Choice) {
	for _, one := range event.JSON(o.Options).Elements() {
		group, _ := one.Member("options")
		for _, c := range append(group.Elements(), one) {
			value, ok := c.Member("value")
			if !ok {
				continue
			}
			name, _ := c.Member("name")
			description, _ := c.Member("description")
			list = append(list, Choice{Value: value.Text(), Name: name.Text(), Description: description.Text(), Data: c})
		}
	}
	return list
}
