package acptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// Recording is a conversation of a real agent with a client.
type Recording struct {
	Name  string
	Meta  Meta
	Lines []Line // of both sides, in their order
	API   []APICall
	runs  map[int]string // how each run's process ended
}

// Meta describes a recording.
type Meta struct {
	Agent    string   `json:"agent"`
	Reported struct { // what the agent reports about itself
		Name, Title, Version string
	} `json:"reported"`
	ProtocolVersion int          `json:"protocolVersion"`
	Results         []MetaResult `json:"results"`
	Asks            []Ask        `json:"asks"`
}

// MetaResult is the expected outcome of a client's request.
type MetaResult struct {
	Method     string
	OK         bool
	StopReason string
	Error      *struct {
		Code    any // a number, or a description of the event that replaced the answer
		Message string
	}
}

// Ask lists the texts that a person must see when the agent asks for permission.
type Ask struct {
	Line       int    `json:"line"` // in the agent's file, from 1
	ToolCallID string `json:"toolCallId"`
	Title      string `json:"title"`
	Options    []string
	MustShow   []map[string]any `json:"must_show"`
}

// Texts returns the texts that must be shown.
func (a *Ask) Texts() (list []string) {
	for _, one := range a.MustShow {
		for name, v := range one {
			if strings.HasPrefix(name, "in_") {
				continue
			}
			switch v := v.(type) {
			case string:
				list = append(list, v)
			case map[string]any: // arguments
				for _, value := range v {
					list = append(list, fmt.Sprint(value))
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// APICall is a request of the agent to its model.
type APICall struct {
	Side, Subagent bool
	Reply          struct {
		Say, Think string
		Slow       json.RawMessage
	}
}

// Line is a line of one of the sides.
type Line struct {
	Message
	Run    int
	Client bool
	Number int    // in the file of its side, from 1
	Raw    string // of a line that is not JSON
	Text   string // of the message
	time   float64
}

// ReadRecording reads the recording in a folder. It replaces the name WORK in it by dir, which must
// be absolute.
func ReadRecording(folder, dir string) (*Recording, error) {
	r := &Recording{Name: filepath.Base(folder), runs: map[int]string{}}
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil
		}
		return bytes.ReplaceAll(text, []byte("WORK"), []byte(filepath.ToSlash(dir)))
	}
	if err := json.Unmarshal(read("meta.json"), &r.Meta); err != nil {
		return nil, fmt.Errorf("acptest: %s: meta.json: %w", folder, err)
	}
	var exits struct {
		Runs []struct {
			Run int
			How string
		}
	}
	if err := json.Unmarshal(read("exit.json"), &exits); err != nil {
		return nil, fmt.Errorf("acptest: %s: exit.json: %w", folder, err)
	}
	for _, run := range exits.Runs {
		r.runs[run.Run] = run.How
	}
	for line := range bytes.Lines(read("api.jsonl")) {
		var call APICall
		if err := json.Unmarshal(line, &call); err != nil {
			return nil, fmt.Errorf("acptest: %s: api.jsonl: %w", folder, err)
		}
		r.API = append(r.API, call)
	}
	for _, name := range []string{"client.jsonl", "agent.jsonl"} {
		text := read(name)
		if len(text) == 0 {
			return nil, fmt.Errorf("acptest: %s: %s is missing", folder, name)
		}
		if err := r.side(text, name == "client.jsonl"); err != nil {
			return nil, fmt.Errorf("acptest: %s: %s: %w", folder, name, err)
		}
	}
	sort.SliceStable(r.Lines, func(i, j int) bool { return r.Lines[i].before(&r.Lines[j]) })
	r.answersLast()
	return r, nil
}

// answersLast moves each request of the client before its answer if both have the same time.
func (r *Recording) answersLast() {
	for i := range r.Lines {
		a := r.Lines[i]
		asks := func(l Line) bool { return l.Client && l.Run == a.Run && l.Method != "" && string(l.ID) == string(a.ID) }
		if a.Client || a.Method != "" || len(a.ID) == 0 || slices.ContainsFunc(r.Lines[:i], asks) {
			continue
		}
		if j := slices.IndexFunc(r.Lines[i:], asks); j > 0 && r.Lines[i+j].time == a.time {
			request := r.Lines[i+j]
			copy(r.Lines[i+1:i+j+1], r.Lines[i:i+j])
			r.Lines[i] = request
		}
	}
}

// before orders lines by time, and the agent's before the client's at the same time, because the client
// continues when it has received an answer.
func (l *Line) before(o *Line) bool {
	if l.Run != o.Run {
		return l.Run < o.Run
	}
	if l.time != o.time {
		return l.time < o.time
	}
	return !l.Client && o.Client
}

// side reads the lines of one side.
func (r *Recording) side(text []byte, client bool) error {
	number := 0
	for line := range bytes.Lines(text) {
		number++
		var one struct {
			T   float64
			Run int
			Msg json.RawMessage
			Raw string
		}
		if err := json.Unmarshal(line, &one); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		l := Line{Run: max(one.Run, 1), Client: client, Number: number, Raw: one.Raw, Text: string(one.Msg), time: one.T}
		if len(one.Msg) > 0 {
			if err := json.Unmarshal(one.Msg, &l.Message); err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
		}
		r.Lines = append(r.Lines, l)
	}
	return nil
}

// Killed reports whether the process of a run was killed.
func (r *Recording) Killed(run int) bool { return strings.HasPrefix(r.runs[run], "killed") }

// Agent returns the recorded agent of a run. It answers each request with the recorded messages up to the answer, followed by those
// up to the next request. If a client resumes a session that the recorded one loaded, it gets the answer without the replay.
func (r *Recording) Agent(run int) *Agent {
	a := &Agent{}
	var open []int // exchanges without an answer, oldest first
	last := -1
	byID := map[string]int{}
	for i := range r.Lines {
		l := &r.Lines[i]
		if l.Run != run {
			continue
		}
		to := last
		if len(open) > 0 {
			to = open[0]
		}
		switch {
		case l.Client && l.Method != "" && len(l.ID) > 0:
			last = len(a.Exchanges)
			byID[string(l.ID)] = last
			open = append(open, last)
			a.Exchanges = append(a.Exchanges, Exchange{Method: l.Method, Match: matchOf(l.Params)})
		case l.Client && l.Method != "" && to >= 0:
			a.add(to, Step{note: l.Method})
		case l.Client && to >= 0 && string(l.ID) != "null":
			a.add(to, Step{answer: string(l.ID)})
		case !l.Client && l.Method == "" && len(l.ID) > 0 && l.Raw == "":
			x, ok := byID[string(l.ID)]
			if !ok {
				break
			}
			delete(byID, string(l.ID))
			open = slices.DeleteFunc(open, func(o int) bool { return o == x })
			last = x
			a.add(x, Step{reply: answerOf(l), number: l.Number})
		case !l.Client && to >= 0 && l.Raw != "":
			a.add(to, Step{line: l.Raw, number: l.Number})
		case !l.Client && to >= 0:
			a.add(to, Step{line: l.Text, number: l.Number})
		}
	}
	if r.Killed(run) && len(open) > 0 {
		a.add(open[len(open)-1], Exit())
	}
	a.resumes()
	return a
}

func (a *Agent) add(i int, s Step) { a.Exchanges[i].Steps = append(a.Exchanges[i].Steps, s) }

// resumes adds an exchange for session/resume after each exchange for session/load.
func (a *Agent) resumes() {
	for _, x := range a.Exchanges {
		if x.Method == "session/load" {
			at := slices.IndexFunc(x.Steps, func(s Step) bool { return s.reply != "" })
			a.Exchanges = append(a.Exchanges, Exchange{Method: "session/resume", Match: x.Match, Steps: x.Steps[max(at, 0):]})
		}
	}
}

// matchOf returns the members that distinguish a request from others of its method.
func matchOf(params json.RawMessage) map[string]string {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(params, &all) // fails if a request has no members
	match := map[string]string{}
	for _, name := range []string{"sessionId", "modeId", "configId", "value", "modelId", "methodId"} {
		if v, ok := all[name]; ok {
			match[name] = string(v)
		}
	}
	return match
}

// answerOf returns an answer without its id.
func answerOf(l *Line) string {
	if len(l.Error) > 0 {
		return `"error":` + string(l.Error)
	}
	return `"result":` + string(l.Result)
}
