package acpagent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/acp/acptest"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// update is the compared part of a recorded agent's update.
type update struct {
	SessionUpdate, ToolCallID, Title, Status string
	Content                                  json.RawMessage
	RawOutput                                json.RawMessage
	Entries                                  []struct{ Content, Status string }
	AvailableCommands                        []struct{ Name string }
	Used, Size                               *int64
	Meta                                     map[string]json.RawMessage `json:"_meta"`
}

func (u *update) text() string {
	var c struct{ Type, Text string }
	_ = json.Unmarshal(u.Content, &c) // fails for the content of a call, which is a list
	return c.Text
}

// updateOf decodes the update of a line. It returns nil if the line has no update.
func updateOf(l *acptest.Line) *update {
	var p struct{ Update *update }
	if l.Client || l.Method != "session/update" || json.Unmarshal(l.Params, &p) != nil {
		return nil
	}
	return p.Update
}

// consistent checks that meta.json matches the lines.
func (d *driver) consistent() {
	number := 0
	for i := range d.r.Lines {
		l := &d.r.Lines[i]
		if l.Client && l.Method != "" && len(l.ID) > 0 {
			d.result(number, l, d.answer(i))
			number++
		}
		if l.Client && l.Method == "initialize" {
			var hello struct {
				ProtocolVersion int
				AgentInfo       struct{ Name, Version string }
			}
			if a := d.answer(i); a != nil && json.Unmarshal(a.Result, &hello) == nil && hello.ProtocolVersion == 1 && (hello.AgentInfo.Name != d.r.Meta.Reported.Name || hello.AgentInfo.Version != d.r.Meta.Reported.Version) {
				d.t.Errorf("the agent reports %+v, meta.json has %+v", hello.AgentInfo, d.r.Meta.Reported)
			}
		}
	}
	if number != len(d.r.Meta.Results) {
		d.t.Errorf("the client made %d requests, meta.json has %d results", number, len(d.r.Meta.Results))
	}
}

// result compares an answer with the results in meta.json, which are in the order of the requests.
func (d *driver) result(number int, l, answer *acptest.Line) {
	if number >= len(d.r.Meta.Results) {
		return
	}
	want := d.r.Meta.Results[number]
	var got struct{ StopReason string }
	if answer != nil && len(answer.Result) > 0 && json.Unmarshal(answer.Result, &got) != nil {
		d.t.Fatalf("%s: %s; want not (answer != nil && len(answer.Result) > 0 && json.Unmarshal(answer.Result, &got) != nil)", l.Method, answer.Result)
	}
	failed := answer == nil || len(answer.Error) > 0
	if want.Method != l.Method || failed != (want.Error != nil) || got.StopReason != want.StopReason {
		d.t.Errorf("request %d, %s: meta.json has %+v, the agent answered %+v", number+1, l.Method, want, answer)
		return
	}
	if want.Error != nil && answer != nil && answer.Raw == "" { // the recorded client did not receive an answer after other text

		var e struct {
			Code    int
			Message string
		}
		if json.Unmarshal(answer.Error, &e) != nil || fmt.Sprint(want.Error.Code) != fmt.Sprint(e.Code) || want.Error.Message != e.Message {
			d.t.Errorf("request %d, %s: meta.json has %+v, the agent answered %s", number+1, l.Method, want.Error, answer.Error)
		}
	}
}

// files creates the files that existed in the recording when the agent read them.
func (d *driver) files() {
	for i := range d.r.Lines {
		l := &d.r.Lines[i]
		var p struct{ Path string }
		if l.Client || l.Method != "fs/read_text_file" || json.Unmarshal(l.Params, &p) != nil {
			continue
		}
		for _, a := range d.r.Lines[i:] {
			var r struct{ Content string }
			if a.Client && a.Method == "" && a.Run == l.Run && string(a.ID) == string(l.ID) && len(a.Result) > 0 && json.Unmarshal(a.Result, &r) == nil {
				if _, err := os.Stat(p.Path); err != nil {
					if err := os.MkdirAll(filepath.Dir(p.Path), 0o700); err != nil {
						d.t.Fatal(err)
					}
					if err := os.WriteFile(p.Path, []byte(r.Content), 0o600); err != nil {
						d.t.Fatal(err)
					}
				}
				break
			}
		}
	}
}

// follow reads the events and answers requests like the recorded client.
func (s *played) follow() {
	defer close(s.done)
	asked := map[string]bool{}
	encoder := event.NewEncoder("00000000", 0)
	for ev, err := range s.Events(context.Background()) {
		s.mu.Lock()
		if err != nil {
			s.err = err
			s.mu.Unlock()
			break
		}
		s.conv.Apply(ev)
		lines, err := encoder.Messages(ev)
		if err != nil {
			s.d.t.Errorf("the messages of %+v: %v", ev, err)
		}
		s.lines = append(s.lines, lines...)
		switch ev := ev.(type) {
		case *event.ResultMessage:
			s.results = append(s.results, ev)
		case *event.PermissionRequest:
			s.latest[ev.RequestID] = ev
			if !asked[ev.RequestID] {
				asked[ev.RequestID] = true
				s.requests = append(s.requests, ev)
				s.permits.Go(func() { s.permit(ev) })
			}
		case *event.QuestionRequest:
			s.permits.Go(func() {
				_ = s.Answer(context.Background(), ev.RequestID, &agent.ElicitationAnswer{Action: "cancel"}) // the request may have been withdrawn
			})
		}
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
}

// until waits until ok returns true. It calls ok with the lock held.
func (s *played) until(ctx context.Context, what string, ok func() bool) {
	s.d.t.Helper()
	for {
		s.mu.Lock()
		done, changed := ok(), s.changed
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
			select {
			case <-s.done:
				s.mu.Lock()
				defer s.mu.Unlock()
				if !ok() {
					s.d.t.Errorf("the session ended before %s: %v", what, s.err)
				}
				return
			default:
			}
		case <-ctx.Done():
			s.d.t.Fatalf("%s: %v after %d results", what, context.Cause(ctx), len(s.results))
		}
	}
}

// asks returns the requests of the recorded agent for a call, in their order.
func (s *played) asks(toolCall string) (list []*acptest.Line) {
	for i := range s.d.r.Lines {
		l := &s.d.r.Lines[i]
		var p struct{ ToolCall struct{ ToolCallID string } }
		if !l.Client && l.Run == s.run && l.Method == "session/request_permission" && json.Unmarshal(l.Params, &p) == nil && p.ToolCall.ToolCallID == toolCall {
			list = append(list, l)
		}
	}
	return list
}

// permit answers a request like the recorded client. It does not answer if the recorded client
// answered because the turn was cancelled: the interrupt does that.
func (s *played) permit(ev *event.PermissionRequest) {
	s.mu.Lock()
	number := 0
	for _, r := range s.requests {
		if r.ToolUseID == ev.ToolUseID {
			if r == ev {
				break
			}
			number++
		}
	}
	s.mu.Unlock()
	lines := s.asks(ev.ToolUseID)
	if number >= len(lines) {
		s.d.t.Errorf("a request for %s that is not in the recording", ev.ToolUseID)
		return
	}
	ask := lines[number]
	if s.d.late {
		ev = s.complete(ask, ev)
	}
	s.check(ask, ev)
	cancelled := false
	for i := range s.d.r.Lines {
		l := &s.d.r.Lines[i]
		if l.Run != s.run || !l.Client || l.Method == "initialize" {
			continue
		}
		cancelled = cancelled || l.Method == "session/cancel" && after(s.d.r.Lines, ask, l)
		if l.Method != "" || string(l.ID) != string(ask.ID) || !after(s.d.r.Lines, ask, l) {
			continue
		}
		var r struct {
			Outcome struct{ Outcome, OptionID string }
		}
		if json.Unmarshal(l.Result, &r) != nil || r.Outcome.Outcome != "selected" && cancelled {
			return
		}
		answer := &agent.PermissionAnswer{Choice: r.Outcome.OptionID}
		for _, c := range ev.Choices {
			answer.Allow = answer.Allow || c.ID == r.Outcome.OptionID && c.Behavior == event.ResolvedAllow
		}
		if err := s.Answer(context.Background(), ev.RequestID, answer); err != nil {
			s.d.t.Errorf("Answer %+v: %v", answer, err)
		}
		return
	}
}

// after reports whether a line follows another one.
func after(lines []acptest.Line, first, second *acptest.Line) bool {
	for i := range lines {
		switch &lines[i] {
		case first:
			return true
		case second:
			return false
		}
	}
	return false
}

// complete waits until a request contains everything that a person must see, and returns it.
func (s *played) complete(ask *acptest.Line, ev *event.PermissionRequest) *event.PermissionRequest {
	end := time.After(10 * time.Second)
	for {
		s.mu.Lock()
		now, changed := s.latest[ev.RequestID], s.changed
		s.mu.Unlock()
		if !slices.ContainsFunc(s.d.r.Meta.Asks, func(a acptest.Ask) bool { return a.Line == ask.Number && len(lacks(&a, now)) > 0 }) {
			return now
		}
		select {
		case <-changed:
		case <-s.done:
			return now
		case <-end:
			return now // check reports what is missing
		}
	}
}

// shownOf returns the texts of a request that a person sees.
func shownOf(ev *event.PermissionRequest) string {
	return leaves(event.Encoded([]any{ev.ToolName, ev.DisplayName, ev.Input, ev.Content, ev.Locations}))
}

// lacks returns the texts that a request must show but does not.
func lacks(a *acptest.Ask, ev *event.PermissionRequest) []string {
	shown := shownOf(ev)
	return slices.DeleteFunc(append(a.Texts(), a.Title), func(text string) bool { return strings.Contains(shown, text) })
}

// check checks that a request contains the texts that a person must see.
func (s *played) check(ask *acptest.Line, ev *event.PermissionRequest) {
	var p struct {
		ToolCall struct{ Title string }
		Options  []struct{ Name, Kind string }
	}
	if err := json.Unmarshal(ask.Params, &p); err != nil {
		s.d.t.Error(err)
	}
	var options []string
	for i, o := range p.Options {
		options = append(options, o.Kind+": "+o.Name)
		if i >= len(ev.Choices) || ev.Choices[i].Label != o.Name {
			s.d.t.Errorf("line %d: the choices are %v, the agent offers %v", ask.Number, ev.Choices, p.Options)
		} else if allows := ev.Choices[i].Behavior == event.ResolvedAllow; allows != strings.HasPrefix(o.Kind, "allow") {
			s.d.t.Errorf("line %d: the choice %q allows: %v, its kind is %s", ask.Number, o.Name, allows, o.Kind)
		}
	}
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	for i := range s.d.r.Meta.Asks {
		a := &s.d.r.Meta.Asks[i]
		if a.Line != ask.Number {
			continue
		}
		s.d.asked++
		if a.ToolCallID != ev.ToolUseID || p.ToolCall.Title != "" && a.Title != p.ToolCall.Title || !slices.Equal(a.Options, options) {
			s.d.t.Errorf("line %d: meta.json has %q %q %q, the agent asked %q %q %q", a.Line, a.ToolCallID, a.Title, a.Options, ev.ToolUseID, p.ToolCall.Title, options)
		}
		for _, text := range lacks(a, ev) {
			s.d.t.Errorf("line %d: the request does not show %q but\n%s", a.Line, text, shownOf(ev))
		}
	}
}

// leaves returns the texts and numbers in a JSON value.
func leaves(text event.JSON) string {
	var v any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return string(text)
	}
	var list []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, one := range v {
				walk(one)
			}
		case []any:
			for _, one := range v {
				walk(one)
			}
		default:
			list = append(list, fmt.Sprint(v))
		}
	}
	walk(v)
	return strings.Join(list, "\n")
}

// ended waits for the result of a turn and compares it with the recorded answer to its prompt.
func (s *played) ended(number int, answer *acptest.Line) {
	s.d.t.Helper()
	ctx, cancel := s.d.context()
	defer cancel()
	s.until(ctx, fmt.Sprint("the end of turn ", number), func() bool { return len(s.results) >= number })
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.results) < number {
		return
	}
	got := s.results[number-1]
	var want struct{ StopReason string }
	var failed struct {
		Code    int
		Message string
	}
	_ = json.Unmarshal(answer.Result, &want)  // either result or error is absent
	_ = json.Unmarshal(answer.Error, &failed) // see above
	if got.StopReason != want.StopReason || got.IsError != (len(answer.Error) > 0) {
		s.d.t.Errorf("turn %d ended with %q %v %q, the agent answered %s%s", number, got.StopReason, got.IsError, got.Result, answer.Result, answer.Error)
	}
	if got.IsError && (got.Result == "" || strings.Contains(got.Result, failed.Message) == strings.HasPrefix(failed.Message, "{")) {
		s.d.t.Errorf("turn %d: the reason %q is not that of the agent: %s", number, got.Result, answer.Error)
	}
	if failed.Code == -32000 && !strings.Contains(got.Result, "log in") {
		s.d.t.Errorf("turn %d: the reason %q does not explain how to log in", number, got.Result)
	}
}

// offers compares the choices of a session with those in the answer that opened it.
func (s *played) offers(answer *acptest.Line) {
	var a struct {
		Modes struct {
			CurrentModeID  string
			AvailableModes []struct{ ID string }
		}
		Models        struct{ AvailableModels []struct{ ModelID string } }
		ConfigOptions []struct {
			ID, Category string
			Options      []struct{ Value string }
			CurrentValue json.RawMessage
		}
	}
	if err := json.Unmarshal(answer.Result, &a); err != nil {
		s.d.t.Error(err)
	}
	var modes, models, efforts []string
	for _, o := range a.ConfigOptions {
		for _, v := range o.Options {
			switch o.Category {
			case "mode":
				modes = append(modes, v.Value)
			case "model":
				models = append(models, v.Value)
			case "thought_level":
				efforts = append(efforts, v.Value)
			}
		}
	}
	if len(a.Modes.AvailableModes) > 0 {
		modes = nil
	}
	for _, m := range a.Modes.AvailableModes {
		modes = append(modes, m.ID)
	}
	if models == nil {
		for _, m := range a.Models.AvailableModels {
			models = append(models, m.ModelID)
		}
	}
	var has []string
	list, _ := s.Session.(agent.Catalog).Models(s.d.t.Context()) // nothing to compare without models
	for _, m := range list {
		has = append(has, m.Name)
	}
	can := agent.CapabilitiesOf(nil, s.Session)
	if !slices.Equal(can.Modes, modes) || !slices.Equal(has, models) || !slices.Equal(can.Efforts, efforts) || can.Model != (len(models) > 0) {
		s.d.t.Errorf("the session offers modes %q, models %q, efforts %q, the agent %q, %q, %q", can.Modes, has, can.Efforts, modes, models, efforts)
	}
}

// checkAll compares the events of an ended session with the played lines.
func (s *played) checkAll() {
	s.d.t.Helper()
	played := map[int]bool{}
	for _, n := range s.agent.Played() {
		played[n] = true
	}
	var lines []*update
	live := false
	for i := range s.d.r.Lines {
		l := &s.d.r.Lines[i]
		if l.Run != s.run {
			continue
		}
		if l.Client && slices.Contains([]string{"session/load", "session/fork"}, l.Method) {
			live = false
		}
		if !l.Client && l.Method == "" && strings.Contains(string(l.Result), `"sessionId"`) || l.Client && l.Method == "session/prompt" {
			live = true
		}
		if u := updateOf(l); u != nil && played[l.Number] && (live || u.SessionUpdate == "available_commands_update") && strings.Contains(string(l.Params), `"`+s.ID()+`"`) {
			lines = append(lines, u)
		}
	}
	compare(s.d, &s.conv, lines, false)
	s.d.note(&s.conv)
	if len(s.conv.Prompts) > 0 {
		s.d.t.Errorf("requests are open after the end: %s", event.Encoded(s.conv.Prompts))
	}
	s.catalog(lines)
}

// catalog compares the commands.
func (s *played) catalog(lines []*update) {
	var want []string
	for _, u := range lines {
		if u.SessionUpdate == "available_commands_update" {
			want = nil
			for _, c := range u.AvailableCommands {
				want = append(want, c.Name)
			}
		}
	}
	list, err := s.Session.(agent.Catalog).Commands(s.d.t.Context())
	var got []string
	for _, c := range list {
		got = append(got, c.Name)
	}
	if err != nil || !slices.Equal(got, want) {
		s.d.t.Errorf("the session has the commands %q, the agent announced %q; %v", got, want, err)
	}
}

// allEnded checks that no tool call is still in progress.
func allEnded(d *driver, calls map[string]*event.ToolCall) {
	d.t.Helper()
	for id, c := range calls {
		if c.Status == event.ToolInProgress {
			d.t.Errorf("the call %s is in progress after the end", id)
		}
	}
}

// blocksShown checks that blocks other than text are shown.
func blocksShown(d *driver, conv *event.Conversation, lines []*update) {
	d.t.Helper()
	shown := leaves(event.Encoded(conv))
	for _, u := range lines {
		if u.SessionUpdate != "agent_message_chunk" || u.text() != "" {
			continue
		}
		for _, part := range strings.Split(leaves(event.JSON(u.Content)), "\n") {
			if part != "text" && !strings.Contains(shown, part) {
				d.t.Errorf("the block %s is not shown", u.Content)
			}
		}
	}
}

// compare compares a conversation with the updates from which it was built.
func compare(d *driver, conv *event.Conversation, lines []*update, replayed bool) {
	d.t.Helper()
	blocksShown(d, conv, lines)
	want := map[string]string{}
	var plan, usage *update
	final := map[string]*update{}
	printed := map[string]string{}
	for _, u := range lines {
		switch u.SessionUpdate {
		case "agent_message_chunk", "agent_thought_chunk":
			want[u.SessionUpdate] += u.text()
		case "user_message_chunk":
			if replayed {
				want[u.SessionUpdate] += u.text()
			}
		case "plan":
			plan = u
		case "usage_update":
			usage = u
		case "tool_call", "tool_call_update":
			if u.SessionUpdate == "tool_call" {
				delete(final, u.ToolCallID) // an id that the agent uses again
			}
			for _, name := range []string{"terminal_output", "terminal_output_delta"} {
				data, _ := event.JSON(u.Meta[name]).Member("data")
				printed[u.ToolCallID] += data.Text()
			}
			if u.Status == "completed" || u.Status == "failed" {
				final[u.ToolCallID] = u
			}
		}
	}
	got, calls := texts(conv)
	for kind, text := range want {
		if got[kind] != text {
			d.t.Errorf("the %s are %q, the agent sent %q", kind, got[kind], text)
		}
	}
	for id, u := range final {
		c := calls[id]
		if c == nil {
			d.t.Errorf("the call %s is not shown", id)
			continue
		}
		if failed := u.Status == "failed"; failed != (c.Status == event.ToolFailed) || c.Status == event.ToolInProgress {
			d.t.Errorf("the call %s is %s, the agent reported %s", id, c.Status, u.Status)
		}
		shown := leaves(event.Encoded(c))
		for _, text := range append(contentTexts(u.Content), printed[id]) {
			if !strings.Contains(shown, text) {
				d.t.Errorf("the call %s does not show %q but\n%s", id, text, shown)
			}
		}
	}
	allEnded(d, calls)
	d.planAndUsage(conv, plan, usage)
}

func (d *driver) planAndUsage(conv *event.Conversation, plan, usage *update) {
	d.t.Helper()
	if plan != nil {
		shown := conv.Thread("").Plan
		if shown == nil || len(shown.Entries) != len(plan.Entries) {
			d.t.Fatalf("the plan is %s, the agent sent %+v", event.Encoded(shown), plan.Entries)
		}
		for i, e := range plan.Entries {
			if shown.Entries[i].Content != e.Content || shown.Entries[i].Status != e.Status {
				d.t.Errorf("entry %d of the plan is %+v, the agent sent %+v", i, shown.Entries[i], e)
			}
		}
	}
	if usage != nil && (conv.Usage == nil || conv.Usage.ContextTokens == nil || *conv.Usage.ContextTokens != *usage.Used || *conv.Usage.ContextWindow != *usage.Size) {
		d.t.Errorf("the usage is %s, the agent sent %d of %d", event.Encoded(conv.Usage), *usage.Used, *usage.Size)
	}
}

// contentTexts returns the texts in the content of a call, including its diffs.
func contentTexts(content json.RawMessage) (list []string) {
	var parts []struct {
		Type, NewText string
		Content       struct{ Text string }
	}
	_ = json.Unmarshal(content, &parts) // a chunk has no list
	for _, p := range parts {
		list = append(list, p.Content.Text, p.NewText)
	}
	return list
}

// texts returns the texts of a conversation by the kind of their updates, and its calls.
func texts(conv *event.Conversation) (map[string]string, map[string]*event.ToolCall) {
	got, calls := map[string]string{}, map[string]*event.ToolCall{}
	conv.Settle()
	for _, t := range conv.Threads {
		for _, item := range t.Items {
			if r := item.ToolResult; r != nil { // of a call in an earlier process
				calls[r.ToolUseID] = &event.ToolCall{ID: r.ToolUseID, Result: r.Content, ToolUseResult: r.ToolUseResult, Status: event.ToolSuccess}
				if r.IsError {
					calls[r.ToolUseID].Status = event.ToolFailed
				}
			}
			if item.Message == nil {
				continue
			}
			for _, b := range item.Message.Blocks {
				switch {
				case b.Tool != nil:
					calls[b.Tool.ID] = b.Tool
				case item.Message.Role == "user":
					got["user_message_chunk"] += b.Text.String()
				case b.Type == "thinking":
					got["agent_thought_chunk"] += b.Text.String()
				case b.Type == "text":
					got["agent_message_chunk"] += b.Text.String()
				}
			}
		}
	}
	return got, calls
}

// replay compares the replay of a loaded session.
func (d *driver) replay(l *acptest.Line, id string, want *acptest.Line) {
	d.t.Helper()
	p, a, _ := d.provider(l.Run)
	ctx, cancel := d.context()
	defer cancel()
	events, err := p.Replay(ctx, id, agent.Options{Dir: d.work})
	d.check(l.Method, want, err)
	if err != nil {
		return
	}
	var conv event.Conversation
	for _, ev := range events {
		conv.Apply(ev)
	}
	played := a.Played()
	var lines []*update
	for i := range d.r.Lines {
		o := &d.r.Lines[i]
		if o == want {
			break
		}
		if u := updateOf(o); u != nil && o.Run == l.Run && slices.Contains(played, o.Number) {
			lines = append(lines, u)
		}
	}
	compare(d, &conv, lines, true)
	d.note(&conv)
}

// note stores the texts that a person was shown.
func (d *driver) note(conv *event.Conversation) {
	got, _ := texts(conv)
	for _, text := range got {
		d.shown.WriteString(text + "\n")
	}
}

// checkTexts checks that every text of the agent was shown. It skips recordings in which a turn was cancelled or killed.
func (d *driver) checkTexts() {
	cut := false
	for i := range d.r.Lines {
		l := &d.r.Lines[i]
		cut = cut || l.Client && l.Method == "session/cancel" || d.r.Killed(l.Run)
	}
	var sent strings.Builder // some agents do not send their thinking
	for i := range d.r.Lines {
		if u := updateOf(&d.r.Lines[i]); u != nil && strings.HasPrefix(u.SessionUpdate, "agent_") {
			sent.WriteString(u.text())
		}
	}
	for _, c := range d.r.API {
		if c.Side || c.Subagent || len(c.Reply.Slow) > 0 {
			continue
		}
		for _, text := range []string{c.Reply.Say, c.Reply.Think} {
			if !cut && strings.Contains(sent.String(), text) && !strings.Contains(d.shown.String(), text) {
				d.t.Errorf("the model said %q, which is not in what was shown:\n%s", text, d.shown.String())
			}
		}
	}
}
