package webserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/acp/acptest"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/codexevent"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
)

// recordings are the folders with recorded conversations: of the Claude CLI, of Codex (several, separated by
// commas) and of agents of the Agent Client Protocol.
type recordings struct{ wire, codex, acp string }

// show plays recordings to the page. The arguments: "wire", "codex" or "acp"; "varied" adds unknown kinds and members; "asks"
// shows only their requests, and leaves them open; the name of a recording selects it.
func (t *scene) show(words []string) error {
	v := &variation{}
	var asks []event.Event
	out := t.emit
	kind, name := "", ""
	for _, word := range words {
		switch word {
		case "varied":
			v.on = true
		case "asks":
			out = func(events ...event.Event) {
				for _, ev := range events {
					switch ev.(type) {
					case *event.PermissionRequest, *event.QuestionRequest:
						asks = append(asks, ev)
					}
				}
			}
		case "wire", "codex", "acp":
			kind = word
		default:
			name = word
		}
	}
	var err error
	switch kind {
	case "wire":
		err = t.showWire(name, v, out)
	case "codex":
		err = t.showCodex(name, v, out)
	case "acp":
		err = t.showACP(name, v, out)
	default:
		err = fmt.Errorf("recordings of %q", kind)
	}
	if err != nil {
		return err
	}
	if asks == nil {
		return t.answer("", text("The recordings end here."))
	}
	for i, ev := range asks {
		switch ev := ev.(type) { // different recordings use the same ids
		case *event.PermissionRequest:
			ev.RequestID, ev.ToolUseID = fmt.Sprintf("recorded-%d", i), ""
		case *event.QuestionRequest:
			ev.RequestID, ev.ToolUseID = fmt.Sprintf("recorded-%d", i), ""
		}
		t.emit(ev)
	}
	return t.wait(time.Hour)
}

// folders returns the folders in a folder that have a file.
func folders(dir, name, file string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var list []string
	for _, e := range entries {
		if name != "" && e.Name() != name {
			continue
		}
		if found, _ := filepath.Glob(filepath.Join(dir, e.Name(), file)); len(found) > 0 {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	return list, err
}

// showCodex converts the threads of recordings of Codex.
func (t *scene) showCodex(name string, v *variation, out func(...event.Event)) error {
	for _, corpus := range strings.Split(t.corpus.codex, ",") {
		list, err := folders(corpus, name, "server.jsonl*")
		if err != nil {
			return err
		}
		for _, dir := range list {
			r := &codexrec.Recording{Dir: dir}
			lines, err := r.Read()
			if err != nil {
				return err
			}
			for _, thread := range rootThreads(lines) {
				c := &codexevent.Converter{ThreadID: thread}
				for _, l := range lines {
					if l.Client {
						if d, err := item.DecodeClient(l.Msg); err == nil {
							out(slices.Clone(c.Client(d))...)
						}
						continue
					}
					for _, text := range v.lines(string(l.Msg)) {
						if d, err := item.DecodeServer([]byte(text)); err == nil {
							out(slices.Clone(c.Server(d))...)
						}
					}
				}
				out(slices.Clone(c.End(nil))...)
			}
		}
	}
	return nil
}

// rootThreads returns the threads of a recording that are not subagents.
func rootThreads(lines []codexrec.Line) (list []string) {
	for _, l := range lines {
		var m struct {
			Result struct {
				Thread struct{ ID string }
				Model  string
			}
		}
		if !l.Client && json.Unmarshal(l.Msg, &m) == nil && m.Result.Model != "" && m.Result.Thread.ID != "" && !slices.Contains(list, m.Result.Thread.ID) {
			list = append(list, m.Result.Thread.ID)
		}
	}
	return list
}

// limitOfRecording limits the time of a recording with an agent that waits for a line that a varied
// conversation lacks.
const limitOfRecording = 20 * time.Second

// showACP runs recorded agents with the real client, which repeats the actions of the recorded
// client.
func (t *scene) showACP(name string, v *variation, out func(...event.Event)) error {
	list, err := folders(t.corpus.acp, name, "meta.json")
	if err != nil {
		return err
	}
	for _, dir := range list {
		r, err := acptest.ReadRecording(dir, t.dir)
		if err != nil {
			return err
		}
		if v.on {
			r.Lines = v.acp(r.Lines)
		}
		ctx, cancel := context.WithTimeout(context.Background(), limitOfRecording)
		p := &acpPlayer{r: r, dir: t.dir, out: out}
		p.play(ctx)
		cancel()
	}
	return nil
}

// acpPlayer repeats the requests of a recorded client.
type acpPlayer struct {
	r       *acptest.Recording
	dir     string
	out     func(...event.Event)
	session agent.Session
	results chan struct{}
	done    chan struct{}
}

func (p *acpPlayer) play(ctx context.Context) {
	defer p.close()
	for i := range p.r.Lines {
		l := &p.r.Lines[i]
		if !l.Client || ctx.Err() != nil {
			continue
		}
		var params struct {
			SessionID, ModeID, ModelID string
			Prompt                     []json.RawMessage
		}
		_ = json.Unmarshal(l.Params, &params) // missing members are empty
		switch l.Method {
		case "session/new", "session/load", "session/resume", "session/fork":
			p.open(ctx, l.Run, l.Method, params.SessionID)
		case "session/prompt":
			if p.session == nil || p.session.Send(ctx, agent.Input{UUID: uuid(), Content: params.Prompt}) != nil {
				continue
			}
			select {
			case <-p.results:
			case <-p.done:
			case <-ctx.Done():
			}
		case "session/cancel": // the end of its prompt is still awaited
		case "session/set_mode":
			if m, ok := p.session.(agent.ModeSetter); ok {
				_ = m.SetMode(ctx, params.ModeID) // fails if the recorded agent refused it
			}
		}
	}
}

func (p *acpPlayer) close() {
	if p.session == nil {
		return
	}
	_ = p.session.Close() // the session has ended
	<-p.done
	p.session = nil
}

func (p *acpPlayer) open(ctx context.Context, run int, method, id string) {
	p.close()
	a := p.r.Agent(run)
	cancelled := make(chan struct{}, 100)
	a.Waiting = func(string) { cancelled <- struct{}{} }
	provider := &acpagent.Provider{As: "recorded", Local: true, Dial: func(context.Context, agent.Options) (io.ReadCloser, io.WriteCloser, error) {
		in, out := a.Dial()
		return in, out, nil
	}}
	opts := agent.Options{Dir: p.dir, Partial: true, ModeUnchosen: true, Fork: method == "session/fork"}
	open := func() (agent.Session, error) { return provider.Open(ctx, opts) }
	if method != "session/new" {
		open = func() (agent.Session, error) { return provider.Resume(ctx, id, opts) }
	}
	s, err := open()
	if err != nil {
		return // the recorded agent refused as well
	}
	p.session, p.results, p.done = s, make(chan struct{}, 100), make(chan struct{})
	go p.follow(s, cancelled)
}

// follow shows the events, answers requests, and stops a turn that the recorded client stopped.
func (p *acpPlayer) follow(s agent.Session, cancelled <-chan struct{}) {
	defer close(p.done)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for {
			select {
			case <-cancelled:
				_, _ = s.Interrupt(ctx) // it may have ended
			case <-ctx.Done():
				return
			}
		}
	}()
	for ev, err := range s.Events(ctx) {
		if err != nil {
			return
		}
		p.out(ev)
		switch ev := ev.(type) {
		case *event.ResultMessage:
			p.results <- struct{}{}
		case *event.PermissionRequest:
			go p.permit(ctx, s, ev)
		case *event.QuestionRequest:
			go func() { _ = s.Answer(ctx, ev.RequestID, &agent.ElicitationAnswer{Action: "cancel"}) }()
		}
	}
}

// permit answers with the choice that the recorded client made for the call.
func (p *acpPlayer) permit(ctx context.Context, s agent.Session, ev *event.PermissionRequest) {
	a := &agent.PermissionAnswer{Allow: true}
	for i := range p.r.Lines {
		l := &p.r.Lines[i]
		var params struct{ ToolCall struct{ ToolCallID string } }
		if l.Client || l.Method != "session/request_permission" || json.Unmarshal(l.Params, &params) != nil || params.ToolCall.ToolCallID != ev.ToolUseID {
			continue
		}
		for _, r := range p.r.Lines[i:] {
			var result struct{ Outcome struct{ OptionID string } }
			if !r.Client || r.Method != "" || r.Run != l.Run || string(r.ID) != string(l.ID) || json.Unmarshal(r.Result, &result) != nil || result.Outcome.OptionID == "" {
				continue
			}
			a.Choice = result.Outcome.OptionID
			a.Allow = slices.ContainsFunc(ev.Choices, func(c event.Choice) bool { return c.ID == a.Choice && c.Behavior == event.ResolvedAllow })
			break
		}
		break
	}
	_ = s.Answer(ctx, ev.RequestID, a) // it may be withdrawn
}
