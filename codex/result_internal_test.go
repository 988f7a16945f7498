package codex

import (
	"slices"
	"testing"

	"github.com/seed7221b0f9/parley/codex/item"
)

// TestResult_text checks that a message that was cut off is the text of a turn that failed, but does not replace
// a later message: a steered turn drops the running message, and reports it at its end.
func TestResult_text(t *testing.T) {
	done := func(text string) item.Notification {
		return &item.ItemCompleted{Item: &item.AgentMessage{Text: text}}
	}
	cut := func(text string) item.Notification { return &item.ItemCut{Item: &item.AgentMessage{Text: text}} }
	end := func(status string) item.Notification { return &item.TurnCompleted{Turn: item.Turn{Status: status}} }
	for name, tt := range map[string]struct {
		said []item.Notification
		want string
	}{
		"steered":           {[]item.Notification{done("Steered."), cut("Fir"), end(item.StatusCompleted)}, "Steered."},
		"interrupted":       {[]item.Notification{done("First."), cut("Sec"), end(item.StatusInterrupted)}, "Sec"},
		"interrupted early": {[]item.Notification{done("First."), cut(""), end(item.StatusInterrupted)}, "First."},
		"only a part":       {[]item.Notification{cut("Fir"), end(item.StatusCompleted)}, "Fir"},
	} {
		var r Result
		for _, n := range tt.said {
			r.add(n)
		}
		if r.Text != tt.want || len(r.Items) == 0 {
			t.Errorf("%s: the text is %q, not %q, of %d items", name, r.Text, tt.want, len(r.Items))
		}
	}
}

// TestResult_cut checks that exactly the truncated items are marked.
func TestResult_cut(t *testing.T) {
	head := func(id string) item.ItemHead { return item.ItemHead{ID: id} }
	var r Result
	r.add(&item.ItemCompleted{Item: &item.AgentMessage{ItemHead: head("whole")}})
	r.add(&item.ItemCut{Item: &item.AgentMessage{ItemHead: head("part")}})
	if len(r.Items) != 2 || len(r.Cut) != 1 || !r.Cut["part"] {
		t.Errorf("of %d items %v are cut, want 2, and part", len(r.Items), r.Cut)
	}
}

// TestOptions_environment checks that the directory of Codex is added to the given environment, or to that of this
// process, and that the given list is not modified.
func TestOptions_environment(t *testing.T) {
	t.Setenv("PARLEY_TEST_ENV", "own")
	given := append(make([]string, 0, 8), "A=1")
	for name, tt := range map[string]struct {
		o    Options
		want []string
		not  string
	}{
		"set":                {Options{Env: given}, []string{"A=1"}, "CODEX_HOME=/h"},
		"set, with a home":   {Options{Env: given, Home: "/h"}, []string{"A=1", "CODEX_HOME=/h"}, "PARLEY_TEST_ENV=own"},
		"empty":              {Options{Env: []string{}}, nil, "PARLEY_TEST_ENV=own"},
		"unset":              {Options{}, []string{"PARLEY_TEST_ENV=own"}, "CODEX_HOME=/h"},
		"unset, with a home": {Options{Home: "/h"}, []string{"PARLEY_TEST_ENV=own", "CODEX_HOME=/h"}, "A=1"},
	} {
		got := tt.o.environment()
		for _, v := range tt.want {
			if !slices.Contains(got, v) {
				t.Errorf("%s: the environment is %q, want %s in it", name, got, v)
			}
		}
		if slices.Contains(got, tt.not) {
			t.Errorf("%s: the environment is %q, want it without %s", name, got, tt.not)
		}
	}
	if more := given[:2]; more[1] != "" {
		t.Errorf("the list of the caller has %q behind its end, want it unchanged", more[1])
	}
}
