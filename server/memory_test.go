package server

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// archived is an agent with sessions that can be restored from a directory. A forgetful one cannot
// continue any session.
type archived struct {
	*agenttest.Provider
	saved   string
	forgets bool
}

func (p *archived) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	if p.forgets {
		return nil, agent.ErrUnsupported
	}
	return p.Provider.Resume(ctx, id, opts)
}

func (p *archived) Restorable(_ context.Context, id string) bool {
	found, _ := filepath.Glob(filepath.Join(p.saved, id+"*"))
	return len(found) > 0
}

func (p *archived) Restore(context.Context, string) error {
	return os.CopyFS(p.Dir, os.DirFS(p.saved))
}

// files returns the files of an agent.
func (p *archived) files(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	names, err := filepath.Glob(filepath.Join(p.Dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// memoryPrompt waits for the question after the loss and returns its labels.
func memoryPrompt(h *harness, w *watcher, id string) (request string, labels []string) {
	h.Helper()
	w.until("the question", func(c *event.Conversation) bool { return len(c.Prompts) == 1 })
	q := h.history(id).Prompts[0].Question
	for _, o := range q.Questions[0].Options {
		labels = append(labels, o.Label)
	}
	return q.RequestID, labels
}

// TestMemory checks that an agent that has lost the conversation does not answer before a person
// has chosen how to continue, and that each choice has its documented effect.
func TestMemory(t *testing.T) {
	short.SkipLong(t, "measures memory")
	const question = "The agent no longer has this conversation. How do you want to continue?"
	tests := []struct {
		name, choice string
		list         bool // the answer is a list
		forgets      bool // the agent cannot continue any session
		saved        bool // the archive has a copy
		crash        bool // the server is restarted while the question is open
		answered     bool
		summary      bool
	}{
		{name: "summary, as a list", choice: "Continue with a summary", list: true, answered: true, summary: true},
		{name: "summary", choice: "Continue with a summary", answered: true, summary: true},
		{name: "summary, after a restart", choice: "Continue with a summary", crash: true, answered: true, summary: true},
		{name: "summary, of an agent that forgets", choice: "Continue with a summary", forgets: true, answered: true, summary: true},
		{name: "restore", choice: "Restore it from the archive", saved: true, answered: true},
		{name: "look again, in vain", choice: "Look again"},
		{name: "cancel", choice: "Cancel"},
		{name: "none of the options", choice: "else"},
	}
	for i := 0; i < len(tests); i += short.Every(3) {
		tt := tests[i]
		t.Run(tt.name, func(t *testing.T) {
			p := &archived{saved: t.TempDir()}
			h := newHarness(t, func(o *Options) {
				p.Provider = &agenttest.Provider{Dir: filepath.Join(filepath.Dir(o.Dir), "agent")}
				o.Providers = []agent.Provider{p}
			})
			id := h.connect()
			w := h.watch(id)
			h.query(id, "say forty-two")
			w.results(1)
			h.stop()
			if tt.saved {
				if err := os.CopyFS(p.saved, os.DirFS(p.Dir)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.RemoveAll(p.Dir); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(p.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			p.forgets = tt.forgets
			h.start()
			w = h.watch(id)
			h.query(id, "say again")
			request, labels := memoryPrompt(h, w, id)
			if slices.Contains(labels, "Restore it from the archive") != tt.saved {
				t.Errorf("the options are %q; a copy is there: %v", labels, tt.saved)
			}
			if tt.crash {
				h.restart()
				w = h.watch(id)
			}
			if got := h.history(id); len(got.Turns) > 2 || got.State != string(session.Failed) || len(got.Queue) != 1 {
				t.Fatalf("before the choice the session is %s, with %d turns and the queue %+v", got.State, len(got.Turns), got.Queue)
			}
			answer := api.QuestionRespondParams{SessionID: id, RequestID: request, Action: "accept",
				Answers: event.Encoded(map[string]string{question: tt.choice})}
			if tt.list {
				answer.Answers = event.Encoded(map[string][]string{question: {tt.choice}})
			}
			if tt.choice == "else" {
				h.refused(api.InvalidParams, "question.respond", answer)
				return
			}
			h.call("question.respond", answer, nil)
			if !tt.answered {
				if tt.choice == "Look again" {
					w.until("the next question", func(c *event.Conversation) bool { return len(c.Prompts) == 1 && c.Prompts[0].RequestID() != request })
				}
				if got := h.history(id); len(got.Queue) != 1 || strings.Contains(p.files(t), "say again") {
					t.Errorf("the prompt does not wait: %+v", got.Queue)
				}
				return
			}
			w.results(2)
			written := p.files(t)
			if !strings.Contains(written, "say again") || strings.Contains(written, "conversation begins") != tt.summary || !strings.Contains(written, "forty-two") {
				t.Errorf("the agent got (a summary: %v)\n%s", tt.summary, written)
			}
			h.query(id, "say more")
			w.results(3)
			const mark = "conversation begins"
			if before, after := strings.Count(written, mark), strings.Count(p.files(t), mark); after != before {
				t.Errorf("the summary was sent again: it is there %d times, before the last prompt %d times", after, before)
			}
		})
	}
}

// TestConnect_unknown checks that resuming a session that neither the agent nor the server has is an error, and makes no session.
func TestConnect_unknown(t *testing.T) {
	h := newHarness(t)
	for name, p := range map[string]api.ConnectParams{
		"of the agent": {ResumeSessionID: "0a0a0a0a-0000-4000-8000-00000000dead"}, "a copy": {ResumeSessionID: "0a0a0a0a-0000-4000-8000-00000000dead", ForkSession: true},
		"of the server": {SessionID: "s-0123456789abcdef01234567"},
	} {
		t.Run(name, func(t *testing.T) {
			h.T = t
			h.refused(api.SessionExpired, "session.connect", p)
		})
	}
	h.T = t
	var list api.ListResult
	if h.call("session.list", api.ListParams{}, &list); len(list.Sessions) != 0 {
		t.Errorf("the sessions are %+v, want none", list.Sessions)
	}
}

// openAgent is an agent whose sessions are all open in a terminal.
type openAgent struct{ *agenttest.Provider }

func (openAgent) Live(context.Context, string) (*agent.Live, error) { return &agent.Live{}, nil }

func (openAgent) ResumeCommand(string) []string { return nil }

// TestOpenElsewhere checks which sessions follow the terminal that has their conversation open: not a copy of it, and not one of another machine.
func TestOpenElsewhere(t *testing.T) {
	s := &Server{tenants: newTenants(Options{Providers: []agent.Provider{openAgent{&agenttest.Provider{}}}})}
	for name, tt := range map[string]struct {
		p       api.ConnectParams
		follows bool
	}{
		"resumed":            {api.ConnectParams{ResumeSessionID: "x"}, true},
		"new":                {api.ConnectParams{}, false},
		"a copy":             {api.ConnectParams{ResumeSessionID: "x", ForkSession: true}, false},
		"of another machine": {api.ConnectParams{ResumeSessionID: "x", Machine: "m"}, false},
	} {
		live, err := s.openElsewhere(t.Context(), &caller{principal: &principal{}}, tt.p)
		if err != nil || (live != nil) != tt.follows {
			t.Errorf("%s: follows %v, %v, want %v", name, live, err, tt.follows)
		}
	}
}

// Measure returns the size of a session's file, with read that of its complete lines.
func (p *archived) Measure(_ context.Context, id string, read bool) (int64, error) {
	data, err := os.ReadFile(filepath.Join(p.Dir, id+".jsonl"))
	if read {
		data = data[:strings.LastIndexByte(string(data), '\n')+1]
	}
	return int64(len(data)), err
}

// TestMemory_shortened checks that a notice reports once that the agent continues with a transcript which has lost a part.
func TestMemory_shortened(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(data []byte) []byte
		want   int
	}{
		"whole":     {func(data []byte) []byte { return data }, 0},
		"longer":    {func(data []byte) []byte { return append(data, "{}\n"...) }, 0},
		"cut":       {func(data []byte) []byte { return data[:len(data)/2] }, 1},
		"last line": {func(data []byte) []byte { return data[:strings.LastIndexByte(string(data[:len(data)-1]), '\n')+1] }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := &archived{}
			h := newHarness(t, func(o *Options) {
				p.Provider = &agenttest.Provider{Dir: filepath.Join(filepath.Dir(o.Dir), "agent")}
				o.Providers = []agent.Provider{p}
			})
			id := h.connect()
			w := h.watch(id)
			h.query(id, "say forty-two")
			w.results(1)
			h.query(id, "say forty-three")
			w.results(2)
			h.stop()
			files, err := filepath.Glob(filepath.Join(p.Dir, "*.jsonl"))
			if err != nil || len(files) != 1 {
				t.Fatalf("the files are %q, %v", files, err)
			}
			data, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(files[0], tt.change(data), 0o600); err != nil {
				t.Fatal(err)
			}
			for n := range 2 {
				h.start()
				w = h.watch(id)
				h.query(id, "say more")
				w.results(3 + n)
				if n == 0 {
					h.stop()
				}
			}
			found := 0
			for _, n := range h.history(id).Notices {
				if strings.Contains(string(event.Encoded(n)), "may not remember") {
					found++
				}
			}
			if found != tt.want {
				t.Errorf("%d notices, want %d: %+v", found, tt.want, h.history(id).Notices)
			}
		})
	}
}
