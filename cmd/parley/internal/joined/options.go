package joined

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/seed7221b0f9/parley/host/join"
)

// word matches a model or an effort; rule matches a tool or a permission rule. Neither can begin
// like a flag.
var (
	word = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@/\[\]-]{0,199}$`)
	rule = regexp.MustCompile(`^[^-\x00-\x1f\x7f][^\x00-\x1f\x7f]{0,999}$`)
)

// uuid matches an id.
var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// maxTools limits the number of tools in a list.
const maxTools = 200

// options decodes and checks the options of a launch.
func (p *Policy) options(text json.RawMessage) (o join.Options, err error) {
	if len(text) > 0 {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&o); err != nil {
			return o, fmt.Errorf("the options of the agent: %w", err)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return o, errors.New("the options of the agent are followed by other text")
		}
	}
	for name, value := range map[string]string{"resume": o.Resume, "at": o.At, "id": o.ID} {
		if value != "" && !uuid.MatchString(value) {
			return o, fmt.Errorf("the option %s is not a UUID", name)
		}
	}
	for name, value := range map[string]string{"model": o.Model, "fallback_model": o.FallbackModel, "effort": o.Effort} {
		if value != "" && !word.MatchString(value) {
			return o, fmt.Errorf("the option %s is not a name", name)
		}
	}
	switch {
	case len(o.DisallowedTools) > maxTools || slices.ContainsFunc(o.DisallowedTools, func(v string) bool { return !rule.MatchString(v) }):
		return o, errors.New("the option disallowed_tools is invalid")
	case o.MaxTurns < 0 || o.MaxBudgetUSD != nil && *o.MaxBudgetUSD < 0 || o.Thinking != nil && *o.Thinking < 0:
		return o, errors.New("an option of the agent is negative")
	case o.Fork && o.Resume == "":
		return o, errors.New("the option fork needs a session to resume")
	case o.Mode != "":
		return o, p.ceiling.check(o.Mode)
	}
	return o, nil
}
