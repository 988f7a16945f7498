package e2e_test

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestNormalizer(t *testing.T) {
	n := normalizer{Keep: []string{"44444444-4444-4444-8444-444444444444"}}
	line := `{"type":"x","task_id":"bqrrveevx","uuid":"9f0ad07a-51b1-4e60-a2d5-0a4a3a2d0b0a","given":"44444444-4444-4444-8444-444444444444",
		"text":"task bqrrveevx wrote tasks/bqrrveevx.output at 2026-11-15T02:08:23.061Z to 127.0.0.1:4711, used ~2487 tokens in 12ms",
		"duration_ms":17,"total_cost_usd":0.5,"num_turns":2,"timestamp":"then","list":[{"end_time":5}],"durationMs":3,
		"plan":"plans/brave-fox.md","socket":"tmp/cc-socks/85.sock","version":"2.1.325"}`
	want := `{"type":"x","task_id":"TASK","uuid":"UUID","given":"44444444-4444-4444-8444-444444444444",
		"text":"task TASK wrote tasks/TASK.output at TIME to 127.0.0.1:PORT, used N tokens in Nms",
		"duration_ms":0,"total_cost_usd":0,"num_turns":2,"timestamp":"TIME","list":[{"end_time":0}],
		"plan":"plans/NAME.md","socket":"tmp/cc-socks/N.sock","version":"VERSION"}`
	n.Learn([]byte(line))
	if got := n.Line([]byte(line)); !reflect.DeepEqual(got, jsonValue([]byte(want))) {
		text, _ := json.MarshalIndent(got, "", " ")
		t.Errorf("got %s", text)
	}
	if got := n.Text("task cnewlearnt"); got != "task cnewlearnt" {
		t.Errorf("an id that is not known yet: %s", got)
	}
	n.Learn([]byte(`{"task_id":"cnewlearnt"}`))
	if got := n.Text("task cnewlearnt"); got != "task TASK" {
		t.Errorf("an id that was learnt since: %s", got)
	}
	if got := n.Line([]byte("not JSON of 12:00")); got != "no JSON: not JSON of 12:00" {
		t.Errorf("got %v", got)
	}
}

func TestAlignFiller(t *testing.T) {
	want := jsonValue([]byte(`{"a":["redacted text of the same","x"],"b":{"c":"redacted."},"d":1}`))
	for got, same := range map[string]bool{
		`{"a":["anything","x"],"b":{"c":"else"},"d":1}`: true,
		`{"a":["anything","y"],"b":{"c":"else"},"d":1}`: false,
		`{"a":["anything"],"b":{"c":"else"},"d":1}`:     false,
		`{"a":[1,"x"],"b":{"c":"else"},"d":1}`:          false,
		`{"a":["anything","x"],"d":1}`:                  false,
	} {
		if aligned := alignFiller(want, jsonValue([]byte(got))); reflect.DeepEqual(aligned, want) != same {
			t.Errorf("%s: %v", got, aligned)
		}
	}
}
