package webserver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
)

func rawJSON(s string) json.RawMessage { return json.RawMessage(s) }

// replay shows a recording: the lines of both directions, in their original order.
// Without a name it shows all recordings, with distinct ids.
func (t *scene) replay(name string) error {
	return t.showWire(name, &variation{}, t.emit)
}

// showWire shows recordings of the Claude CLI.
func (t *scene) showWire(name string, v *variation, out func(...event.Event)) error {
	root := t.corpus.wire
	if name != "" {
		root = filepath.Join(root, filepath.Base(name))
	}
	return filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Name() != "stdout.jsonl" {
			return err
		}
		own := func(line string) string { return line }
		if name == "" {
			own = strings.NewReplacer(`"msg_`, `"msg_`+path, `"toolu_`, `"toolu_`+path).Replace
		}
		return t.dialogue(filepath.Dir(path), own, v, out)
	})
}

func (t *scene) dialogue(dir string, own func(line string) string, v *variation, show func(...event.Event)) error {
	out, in := lines(filepath.Join(dir, "stdout.jsonl")), lines(filepath.Join(dir, "stdin.jsonl"))
	seen := 0
	for _, line := range lines(filepath.Join(dir, "timeline.jsonl")) {
		var at struct {
			Dir, Ev string
			N       int
		}
		if json.Unmarshal([]byte(line), &at) != nil || at.Ev != "line" {
			continue
		}
		switch {
		case at.Dir == "in" && at.N >= 1 && at.N <= len(in):
			t.line(own(in[at.N-1]), true, show)
		case at.Dir == "out" && seen < len(out):
			for _, text := range v.lines(own(out[seen])) {
				t.line(text, false, show)
			}
			seen++
		}
	}
	for _, line := range out[min(seen, len(out)):] {
		t.line(own(line), false, show)
	}
	return nil
}

// line shows a line of a recording.
func (t *scene) line(text string, in bool, show func(...event.Event)) {
	if text == "" {
		return
	}
	m, err := message.Decode([]byte(text))
	if err != nil {
		if in {
			return
		}
		m = &message.BadLine{Size: len(text), Err: err}
	}
	show(t.converted(func(c *claudeevent.Converter) []event.Event {
		switch m := m.(type) {
		case *message.ControlRequest:
			if in {
				return nil
			}
			return c.Ask(m.RequestID, m.Request)
		case *message.ControlResponse:
			if !in {
				return nil
			}
			return c.Answer(m.Response.RequestID, m.Response.Response, "")
		case *message.ControlCancelRequest:
			return c.Answer(m.RequestID, "", "")
		}
		if in {
			return c.Prompt(message.UserInput{Raw: json.RawMessage(text)})
		}
		return c.Add(m)
	})...)
}

func lines(name string) []string {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}
