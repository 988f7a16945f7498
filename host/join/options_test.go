package join

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
)

// Every field of the options is sent over the link.
func TestOptions(t *testing.T) {
	want := Options{
		Resume: "r", Fork: true, At: "at", ID: "id", Model: "m", FallbackModel: "f", Mode: "plan", ModeUnchosen: true, Effort: "high", Thinking: new(int64(7)),
		SystemPrompt: "s", AppendSystemPrompt: "a", DisallowedTools: []string{"Bash"}, MaxTurns: 3, MaxBudgetUSD: new(1.5), Partial: true,
	}
	for i := range reflect.TypeOf(want).NumField() {
		if reflect.ValueOf(want).Field(i).IsZero() {
			t.Errorf("the test sets no %s", reflect.TypeOf(want).Field(i).Name)
		}
	}
	text, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var read Options
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if got := OptionsOf(read.Agent(), "r"); !reflect.DeepEqual(got, want) {
		t.Errorf("the options are %+v, want %+v", got, want)
	}
}

// Options that could start a program, name a file or allow a tool are not sent over the link.
func TestOptions_withheld(t *testing.T) {
	o := agent.Options{AllowedTools: []string{"Bash"}, MCPServers: json.RawMessage(`{}`), Agents: json.RawMessage(`{}`), Env: []string{"A=1"},
		SettingSources: []string{"user"}, AdditionalDirectories: []string{"/etc"}, AllowBypass: true}
	if got := OptionsOf(o, ""); !reflect.DeepEqual(got, Options{}) {
		t.Errorf("the options are %+v, want none", got)
	}
}
