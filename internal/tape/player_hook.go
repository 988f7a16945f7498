package tape

import (
	"encoding/json"
	"strings"
)

// hookIDs returns the ids of hooks in an initialize request, for each event by matcher.
func hookIDs(initialize string) map[string][]struct {
	IDs []string `json:"hookCallbackIds"`
} {
	var v struct {
		Request struct {
			Hooks map[string][]struct {
				IDs []string `json:"hookCallbackIds"`
			} `json:"hooks"`
		} `json:"request"`
	}
	_ = json.Unmarshal([]byte(initialize), &v) // invalid JSON has no hooks
	return v.Request.Hooks
}

// mapHooks maps the ids of recorded hooks to those of another SDK for the hooks in the
// same positions.
func mapHooks(recorded, line string) map[string]string {
	ids, own := map[string]string{}, hookIDs(line)
	for event, matchers := range hookIDs(recorded) {
		for i, m := range matchers {
			for j, id := range m.IDs {
				if i < len(own[event]) && j < len(own[event][i].IDs) {
					ids[id] = own[event][i].IDs[j]
				}
			}
		}
	}
	return ids
}

// withHook returns a line with the hook id of the SDK. The caller holds p.mu.
func (p *Player) withHook(text string) string {
	const member = `"callback_id":`
	head, rest, ok := strings.Cut(text, member)
	if !ok || len(p.hookIDs) == 0 || !strings.Contains(head, `"hook_callback"`) {
		return text
	}
	for recorded, own := range p.hookIDs {
		if after, ok := strings.CutPrefix(rest, quote(recorded)); ok {
			return head + member + quote(own) + after
		}
	}
	return text
}
