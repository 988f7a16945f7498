package editor_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// View is the compared part of a client's display.
type View struct {
	Outcomes []Outcome
	Sessions []*Session
	Stray    []string // codes of errors without an id, and other lines that belong to no request
}

// Outcome is the result or the error of a client's request.
type Outcome struct {
	Method string
	End    string // ok, a stop reason, error CODE, none
	Detail string // the message of an error
	Kind   string // data.errorKind of an error
}

// Session is a session from the request that opened it. Loading it again makes a new Session.
type Session struct {
	Items []*Item
	Plan  []string
	Modes []string

	tools map[string]*Item
}

// Item is an element of a session's display, in the order of the first appearance.
type Item struct {
	Type      string // say, think, user, tool, ask, elicit, notice, compaction, answer
	ID        string // of a message or a tool call; not compared
	Text      string
	Tool      string
	Title     string
	Kind      string
	Status    string
	Statuses  []string // all observed statuses
	Content   []string
	Locations []string
	Raw       string // the raw output
	Parent    bool   // it belongs to a subagent
	Picked    string // of ask and elicit: the client's answer
	Options   []string
	Meta      bool // a message with _meta and no id: the adapter's notices
	Outcome   int  // of answer: the index of the outcome, or -1 if Status contains it
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		SessionID string          `json:"sessionId"`
		Update    json.RawMessage `json:"update"`
		ToolCall  json.RawMessage `json:"toolCall"`
		Subject   struct {
			ToolCall json.RawMessage `json:"toolCall"`
		} `json:"subject"`
		Options []struct {
			OptionID string `json:"optionId"`
			Kind     string `json:"kind"`
		} `json:"options"`
		Message         string          `json:"message"`
		RequestedSchema json.RawMessage `json:"requestedSchema"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// folder folds a timeline.
type folder struct {
	view     *View
	clean    func(string) string
	open     map[string]int // index of the outcome by request id, for the current process
	methods  map[string]string
	session  map[string]*Session // by id
	requests map[string]*Item    // of the agent, by id
	prompts  map[string]string   // session of a prompt, by request id
}

// Fold folds a timeline. clean replaces values that differ between runs.
func Fold(timeline []recordedLine, clean func(string) string) *View {
	f := &folder{view: &View{}, clean: clean, session: map[string]*Session{}, prompts: map[string]string{}}
	f.restart()
	for _, l := range timeline {
		switch l.Dir {
		case "restart":
			f.restart()
		case "client":
			f.client(l.Msg)
		case "agent":
			f.agent(l.Msg)
		}
	}
	return f.view
}

func (f *folder) restart() {
	f.open, f.methods, f.requests = map[string]int{}, map[string]string{}, map[string]*Item{}
}

func (f *folder) client(raw json.RawMessage) {
	var m message
	if json.Unmarshal(raw, &m) != nil {
		return
	}
	id := string(m.ID)
	switch {
	case m.Method != "" && id != "":
		f.open[id] = len(f.view.Outcomes)
		f.methods[id] = m.Method
		f.view.Outcomes = append(f.view.Outcomes, Outcome{Method: m.Method, End: "none"})
		f.prompts[id] = m.Params.SessionID
		if m.Method == "session/load" || m.Method == "session/resume" {
			f.newSession(m.Params.SessionID)
		}
	case m.Method == "" && f.requests[id] != nil:
		f.picked(f.requests[id], &m)
	}
}

// picked records the client's answer.
func (f *folder) picked(item *Item, m *message) {
	var r struct {
		Outcome struct {
			Outcome  string `json:"outcome"`
			OptionID string `json:"optionId"`
		} `json:"outcome"`
		Action string `json:"action"`
	}
	switch {
	case m.Error != nil:
		item.Picked = "error"
	case json.Unmarshal(m.Result, &r) != nil:
	case r.Action != "":
		item.Picked = r.Action
	case r.Outcome.Outcome == "selected":
		item.Picked = "bogus"
		for _, o := range item.Options {
			if kind, id, _ := strings.Cut(o, " "); id == r.Outcome.OptionID {
				item.Picked = kind
			}
		}
	default:
		item.Picked = r.Outcome.Outcome
	}
}

func (f *folder) newSession(id string) *Session {
	s := &Session{tools: map[string]*Item{}}
	f.session[id] = s
	f.view.Sessions = append(f.view.Sessions, s)
	return s
}

func (f *folder) of(id string) *Session {
	if s := f.session[id]; s != nil {
		return s
	}
	return f.newSession(id)
}

func (f *folder) agent(raw json.RawMessage) {
	var m message
	if json.Unmarshal(raw, &m) != nil {
		f.view.Stray = append(f.view.Stray, "batch")
		return
	}
	id := string(m.ID)
	switch {
	case m.Method == "session/update":
		f.update(f.of(m.Params.SessionID), m.Params.Update)
	case m.Method == "session/request_permission":
		f.ask(id, &m)
	case m.Method == "elicitation/create":
		item := &Item{Type: "elicit", Text: m.Params.Message, Content: []string{canonical(m.Params.RequestedSchema)}}
		f.requests[id] = item
		s := f.of(m.Params.SessionID)
		s.Items = append(s.Items, item)
	case m.Method != "" && id != "":
		f.view.Stray = append(f.view.Stray, m.Method)
	case m.Method != "":
	case id == "null":
		f.view.Stray = append(f.view.Stray, fmt.Sprintf("error %d", m.Error.Code))
	default:
		f.ended(id, &m)
	}
}

// ended records the end of a client's request.
func (f *folder) ended(id string, m *message) {
	i, ok := f.open[id]
	if !ok {
		f.view.Stray = append(f.view.Stray, "answer")
		return
	}
	delete(f.open, id)
	o := &f.view.Outcomes[i]
	o.End = "ok"
	var r struct {
		StopReason string `json:"stopReason"`
		SessionID  string `json:"sessionId"`
		Outcome    string `json:"outcome"`
	}
	if m.Error != nil {
		o.End, o.Detail = fmt.Sprintf("error %d", m.Error.Code), f.clean(m.Error.Message)
		var data struct {
			Kind string `json:"errorKind"`
		}
		if json.Unmarshal(m.Error.Data, &data) == nil {
			o.Kind = data.Kind
		}
	} else if json.Unmarshal(m.Result, &r) == nil {
		switch {
		case r.StopReason != "":
			o.End = r.StopReason
		case r.Outcome != "":
			o.End = r.Outcome
		}
		if (o.Method == "session/new" || o.Method == "session/fork") && r.SessionID != "" {
			f.newSession(r.SessionID)
		}
	}
	if o.Method == "session/prompt" && f.session[f.prompts[id]] != nil {
		s := f.session[f.prompts[id]]
		s.Items = append(s.Items, &Item{Type: "answer", Outcome: i})
	}
}

func (f *folder) ask(id string, m *message) {
	item := &Item{Type: "ask"}
	call := m.Params.ToolCall
	if call == nil {
		call = m.Params.Subject.ToolCall
	}
	var t toolMembers
	if json.Unmarshal(call, &t) == nil {
		item.Tool, item.ID = deref(t.Name), t.ToolCallID
	}
	for _, o := range m.Params.Options {
		item.Options = append(item.Options, o.Kind+" "+o.OptionID)
	}
	f.requests[id] = item
	f.of(m.Params.SessionID).beside(item)
}

// beside moves a request right after its call, because updates of other calls may arrive in
// between.
func (s *Session) beside(item *Item) {
	at := len(s.Items)
	for i, other := range s.Items {
		if other.ID == item.ID && (other.Type == "tool" || other.Type == item.Type) {
			at = i + 1
		}
	}
	s.Items = slices.Insert(s.Items, at, item)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// canonical writes JSON with sorted members.
func canonical(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	return string(mustJSON(v))
}

var (
	uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	ports = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

// Clean returns a function that replaces values that differ between runs: the directory of the run, ids and ports.
func Clean(dir string) func(string) string {
	return func(s string) string {
		if dir != "" {
			s = strings.ReplaceAll(s, dir+"/project", "/home/dev/project")
			s = strings.ReplaceAll(s, dir+"/home", "/home/dev")
			s = strings.ReplaceAll(s, dir, "/home/dev/run")
		}
		s = uuids.ReplaceAllString(s, "UUID")
		return ports.ReplaceAllString(s, "127.0.0.1:PORT")
	}
}
