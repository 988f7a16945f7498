package session

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
)

// fullCore returns a core with an element in each field that is a list.
func fullCore() *core {
	ask := func(id string) pendingPrompt {
		return pendingPrompt{AskedAt: id, Prompt: event.Prompt{Permission: &event.PermissionRequest{RequestID: id}}}
	}
	c := &core{
		ID: "s", State: Running, Inputs: []input{{ID: "a", Content: mustJSON("x"), Status: inputSent}, {ID: "b", Content: mustJSON("y"), Status: inputQueued}, {ID: "c", Content: mustJSON("z"), Status: inputQueued}},
		Requests: []pendingPrompt{ask("r1"), ask("r2")}, Lost: []string{"l"}, Taken: []taken{{Before: "b"}}, Marks: []mark{{Turn: "t1"}, {Turn: "t2"}},
		Given: []keptAnswer{{ID: "g1"}}, Comments: []comment{{ReviewComment: api.ReviewComment{ID: "c1"}}, {ReviewComment: api.ReviewComment{ID: "c2"}}},
	}
	for i := range maxKeys {
		c.Keys = append(c.Keys, accepted{Key: fmt.Sprint(i)})
	}
	return c
}

// TestCore_clone checks that a copy of a core shares no list with it, and that facts applied to the
// copy do not change the core: a failed commit restores the previous state.
func TestCore_clone(t *testing.T) {
	c := fullCore()
	d := c.clone()
	for i := range reflect.TypeFor[core]().NumField() {
		name := reflect.TypeFor[core]().Field(i).Name
		was, is := reflect.ValueOf(c).Elem().Field(i), reflect.ValueOf(&d).Elem().Field(i)
		if was.Kind() != reflect.Slice && was.Kind() != reflect.Map || name == "told" { // replaced as a whole
			continue
		}
		if was.Len() == 0 {
			t.Errorf("%s: nothing to copy; fullCore has to fill it", name)
		} else if was.Pointer() == is.Pointer() {
			t.Errorf("%s: the copy shares it", name)
		}
	}
	prompt := event.Prompt{Permission: &event.PermissionRequest{RequestID: "r1", ToolName: "changed"}}
	text, yes := "changed", true
	changes := map[string]*facts{
		"Opened": {Opened: &Opened{Provider: "other"}}, "AgentID": {AgentID: "x"}, "State": {State: Idle}, "Inputs": {Inputs: []input{{ID: "a", Content: mustJSON("changed")}}},
		"Removed": {Removed: []string{"a"}}, "Order": {Order: []string{"c", "b"}}, "Asked": {Asked: &asking{AskedAt: "changed", prompt: prompt}}, "Resolved": {Resolved: "r1"},
		"Key": {Key: &accepted{Key: "new"}}, "Title": {Title: text}, "TitleBy": {TitleBy: text}, "Model": {Model: &text}, "Mode": {Mode: text}, "Thinking": {Thinking: &thinking{}},
		"Effort": {Effort: &text}, "Archived": {Archived: &yes}, "InTerminal": {InTerminal: &yes}, "Pid": {Pid: 1}, "Limited": {Limited: &text}, "Memory": {Memory: &memory{Asked: "x"}}, "Kept": {Kept: &fileSize{AgentID: "x", Size: 1}},
		"Dearest": {Dearest: &budget.Amount{USD: 1}}, "Lost": {Lost: []string{"m"}}, "Mark": {Mark: &mark{Turn: "t1", Start: "changed"}}, "Comments": {Comments: []comment{{ReviewComment: api.ReviewComment{ID: "c1", Text: text}}}},
		"Uncommented": {Uncommented: []string{"c1"}}, "Taken": {Taken: &[]taken{{Before: "changed"}}}, "Given": {Given: &keptAnswer{ID: "g2"}}, "Host": {Host: new(uint32(3))}, "HostIn": {Host: new(uint32(3)), HostIn: "changed"}, "Box": {Host: new(uint32(3)), Box: &api.Box{Kind: "changed"}}, "Line": {Line: 9}, "Owner": {Owner: &ownedBy{Node: "changed"}},
	}
	for i := range reflect.TypeFor[facts]().NumField() {
		name := reflect.TypeFor[facts]().Field(i).Name
		f := changes[name]
		if f == nil {
			t.Errorf("%s: no change of it is here", name)
			continue
		}
		c := fullCore()
		before, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		d := c.clone()
		d.apply(7, "later", f)
		if after, err := json.Marshal(c); err != nil || string(after) != string(before) {
			t.Errorf("%s: a change of the copy changes the core\nfrom %.500s\nto   %.500s", name, before, after)
		}
		if changed, err := json.Marshal(d); err != nil || string(changed) == string(before) {
			t.Errorf("%s: nothing changes in the copy", name)
		}
	}
}
