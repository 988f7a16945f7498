package claude

import (
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
)

// traceStream finds turns, answers, tools and tasks in the stream. Only the tracer's goroutine
// uses it.
type traceStream struct {
	t       *Trace
	prompts []PromptTrace // sent prompts without a turn
	named   bool          // the CLI names the prompts of a turn
	turn    *openTurn     // nil between turns
	session string
	model   string
	cost    float64 // total of the process in the last result
	usage   map[string]message.ModelUsage
	talks   map[string]*traceTalk // by the call of the subagent; "" for the main conversation
	tools   []ToolBeginTrace      // without a result
	tasks   []*openTask           // not ended
}

type openTurn struct {
	TurnBeginTrace
	token bool // the first token was reported
}

// traceTalk is a conversation: the main one, or a subagent's.
type traceTalk struct {
	since  time.Time        // the last event that the model can have waited for
	answer *GenerationTrace // the incomplete answer
	last   string           // the id of the previous answer
}

func newTraceStream(t *Trace) *traceStream {
	if t.PromptCancelled == nil && t.TurnBegin == nil && t.TurnEnd == nil && t.FirstToken == nil && t.APIRequest == nil && t.APIRetry == nil && t.Generation == nil &&
		t.ToolBegin == nil && t.ToolEnd == nil && t.TaskBegin == nil && t.TaskEnd == nil {
		return nil
	}
	return &traceStream{t: t, talks: map[string]*traceTalk{}}
}

// event calls a function of Trace.
func event[E any](fn func(E), e E) {
	if fn != nil {
		safely(func() { fn(e) }) // a panic must not affect later events
	}
}

func (s *traceStream) talk(call string, at time.Time) *traceTalk {
	v := s.talks[call]
	if v == nil {
		v = &traceTalk{since: at}
		s.talks[call] = v
	}
	return v
}

// see processes a message.
func (s *traceStream) see(m message.Message, at time.Time) {
	if id := m.Head().SessionID; id != "" {
		s.session = id
	}
	switch m := m.(type) {
	case *message.Init:
		s.model = m.Model
		s.initialised(m, at)
	case *message.CommandLifecycle:
		s.named = true
		if m.State == message.CommandCancelled {
			for _, p := range s.take([]string{m.CommandUUID}) {
				event(s.t.PromptCancelled, p)
			}
		}
	case *message.Status:
		if m.Status == "requesting" {
			s.talk("", at).since = at
			event(s.t.APIRequest, APIRequestTrace{At: at})
		}
	case *message.APIRetry:
		event(s.t.APIRetry, APIRetryTrace{At: at, Retry: m})
	case *message.StreamEvent:
		s.streamed(m, at)
	case *message.Assistant:
		s.answered(m, at)
	case *message.User:
		s.used(m, at)
	case *message.Result:
		s.result(m, at)
	case *message.SessionStateChanged:
		if m.State == message.StateIdle {
			s.endTurn(at, nil, ErrNoResult)
		}
	default:
		s.task(m, at)
	}
}

// end ends all open turns, answers, tools and tasks.
func (s *traceStream) end(at time.Time, err error) {
	if err == nil {
		err = errEnded
	}
	s.endTasks(at, func(*openTask) bool { return true })
	s.endTurn(at, nil, err)
	for call := range s.talks {
		s.complete(call)
	}
	s.endTools(at, func(ToolBeginTrace) bool { return true })
}

// streamed processes a part of an answer.
func (s *traceStream) streamed(m *message.StreamEvent, at time.Time) {
	s.open(m.ParentToolUseID, at)
	v := s.talk(m.ParentToolUseID, at)
	switch e := m.Event.(type) {
	case *message.MessageStart:
		s.complete(m.ParentToolUseID)
		v.begin(&e.Message, m.ParentToolUseID, at)
	case *message.ContentBlockDelta:
		if v.answer != nil && v.answer.FirstToken.IsZero() {
			v.answer.FirstToken = at
		}
		s.firstToken(m.ParentToolUseID, at)
	case *message.MessageDelta:
		if v.answer != nil {
			learn(&v.answer.StopReason, e.Delta.StopReason)
			v.answer.learnUsage(e.Usage)
		}
	case *message.MessageStop:
		if v.answer != nil {
			v.answer.End = at
			s.complete(m.ParentToolUseID)
		}
	}
}

// begin begins an answer.
func (v *traceTalk) begin(m *message.APIMessage, call string, at time.Time) {
	v.answer = &GenerationTrace{Period: Period{v.since, at}, ID: m.ID, Model: m.Model, ParentToolUseID: call, Usage: m.Usage, Partial: true}
}

// learnUsage merges the usage at the end of an answer, which may omit values that were
// reported at its start.
func (g *GenerationTrace) learnUsage(u *message.Usage) {
	if u == nil {
		return
	}
	whole := *u
	if g.Usage != nil {
		whole.InputTokens = max(whole.InputTokens, g.Usage.InputTokens)
		whole.CacheReadInputTokens = max(whole.CacheReadInputTokens, g.Usage.CacheReadInputTokens)
		whole.CacheCreationInputTokens = max(whole.CacheCreationInputTokens, g.Usage.CacheCreationInputTokens)
	}
	g.Usage, g.Partial = &whole, false
}

// answered handles a piece of an answer. Its usage has the numbers at the start of the answer.
func (s *traceStream) answered(m *message.Assistant, at time.Time) {
	call := m.ParentToolUseID
	s.open(call, at)
	if m.Message.Model != syntheticModel {
		s.firstToken(call, at)
	}
	v := s.talk(call, at)
	if v.answer != nil && v.answer.ID != m.Message.ID {
		s.complete(call)
	}
	if v.answer == nil && (v.last == "" || v.last != m.Message.ID) {
		v.begin(&m.Message, call, at)
	}
	if v.answer != nil {
		v.answer.learn(m, at)
	}
	for _, b := range m.Message.Content {
		if use, ok := b.(*message.ToolUse); ok {
			tool := ToolBeginTrace{At: at, ToolUseID: use.ID, Name: use.Name, ParentToolUseID: call, Input: use.Input}
			s.tools = append(s.tools, tool)
			event(s.t.ToolBegin, tool)
		}
	}
}

// learn adds a piece to the answer.
func (g *GenerationTrace) learn(m *message.Assistant, at time.Time) {
	g.End, g.Messages = at, append(g.Messages, m)
	learn(&g.RequestID, m.RequestID)
	learn(&g.AgentID, m.AgentID)
	learn(&g.StopReason, m.Message.StopReason)
	learn(&g.Err, m.Error)
}

// complete reports the answer of a conversation, if there is one.
func (s *traceStream) complete(call string) {
	v := s.talks[call]
	if v == nil || v.answer == nil {
		return
	}
	g := v.answer
	v.answer, v.last = nil, g.ID
	// The CLI also writes messages in place of the model.
	if g.Model != syntheticModel || g.Err != "" {
		event(s.t.Generation, *g)
	}
	if g.End.After(v.since) {
		v.since = g.End
	}
}

// syntheticModel is the model of text that the CLI wrote itself.
const syntheticModel = "<synthetic>"

func (s *traceStream) firstToken(call string, at time.Time) {
	if call != "" || s.turn == nil || s.turn.token {
		return
	}
	s.turn.token = true
	first := FirstTokenTrace{At: at, TurnID: s.turn.ID, Duration: at.Sub(s.turn.At)}
	if len(s.turn.Prompts) > 0 {
		first.SincePrompt = first.Duration + s.turn.Waited
	}
	event(s.t.FirstToken, first)
}

// used processes tool results. The model's next answer follows them.
func (s *traceStream) used(m *message.User, at time.Time) {
	s.talk(m.ParentToolUseID, at).since = at
	for _, b := range m.Message.Content.Blocks() {
		result, ok := b.(*message.ToolResult)
		if !ok {
			continue
		}
		i := slices.IndexFunc(s.tools, func(t ToolBeginTrace) bool { return t.ToolUseID == result.ToolUseID })
		if i < 0 {
			continue
		}
		end := toolEnd(s.tools[i], at)
		end.Result, end.IsError = result, result.IsError
		if j := slices.IndexFunc(m.ToolResultMeta, func(r message.ToolResultMeta) bool { return r.ID == result.ToolUseID }); j >= 0 {
			end.Meta = &m.ToolResultMeta[j]
		}
		s.tools = slices.Delete(s.tools, i, i+1)
		s.leave(end.ToolUseID, at)
		event(s.t.ToolEnd, end)
	}
}

func toolEnd(t ToolBeginTrace, at time.Time) ToolEndTrace {
	return ToolEndTrace{Period: Period{t.At, at}, ToolUseID: t.ToolUseID, Name: t.Name, ParentToolUseID: t.ParentToolUseID}
}

// endTools ends calls that will have no result.
func (s *traceStream) endTools(at time.Time, which func(ToolBeginTrace) bool) {
	var rest, gone []ToolBeginTrace
	for _, t := range s.tools {
		if which(t) {
			gone = append(gone, t)
		} else {
			rest = append(rest, t)
		}
	}
	s.tools = rest
	for _, t := range slices.Backward(gone) { // nested calls first
		event(s.t.ToolEnd, toolEnd(t, at))
	}
}
