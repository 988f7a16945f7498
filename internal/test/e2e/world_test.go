package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

func TestMain(m *testing.M) {
	if config := os.Getenv(writerVariable); config != "" {
		if err := runStoreWriter(config); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	e2e.VerifyMain(m)
}

// world is the real CLI in a separate environment with a scripted API.
type world struct {
	t    *testing.T
	api  *claudetest.FakeAPI
	dir  string // the working directory
	opts *claude.Options
}

func newWorld(t *testing.T, replies ...claudetest.Reply) *world {
	t.Helper()
	cli := e2e.CLI(t)
	api := claudetest.StartFakeAPI(t, claudetest.Replies(replies...))
	opts, err := claudetest.HermeticOptions(t.TempDir(), api.URL())
	if err != nil {
		t.Fatal(err)
	}
	opts.CLIPath = cli
	w := &world{t: t, api: api, dir: opts.Dir, opts: opts}
	return w
}

func (w *world) connect() *claude.Client {
	w.t.Helper()
	c, err := claude.Connect(w.t.Context(), w.opts)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c
}

// talk holds the messages of a range.
type talk struct {
	messages []message.Message
	err      error
}

func collect(seq iter.Seq2[message.Message, error]) (t talk) {
	for m, err := range seq {
		if err != nil {
			t.err = err
			break
		}
		t.messages = append(t.messages, m)
	}
	return t
}

func (t talk) kinds() []string {
	var kinds []string
	for _, m := range t.messages {
		kinds = append(kinds, message.Kind(m))
	}
	return kinds
}

// of returns the messages of one type.
func of[M message.Message](messages []message.Message) (out []M) {
	for _, m := range messages {
		if x, ok := m.(M); ok {
			out = append(out, x)
		}
	}
	return out
}

func (t talk) results() []*message.Result { return of[*message.Result](t.messages) }

// text returns all text of the model.
func (t talk) text() string {
	var b strings.Builder
	for _, m := range of[*message.Assistant](t.messages) {
		b.WriteString(m.Text())
	}
	return b.String()
}

// one returns the only result.
func (t talk) one(tb testing.TB) *message.Result {
	tb.Helper()
	if len(t.results()) != 1 {
		tb.Fatalf("%d results in %v, error %v", len(t.results()), t.kinds(), t.err)
	}
	return t.results()[0]
}

// asked returns the text of the user's messages in the n-th main request of the API.
func (w *world) asked(n int) string {
	w.t.Helper()
	i := 0
	for _, r := range w.api.Requests() {
		if r.Side {
			continue
		}
		if i == n {
			return userText(r.Body)
		}
		i++
	}
	w.t.Fatalf("the API was asked %d times", i)
	return ""
}

func userText(body json.RawMessage) string {
	var req struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, m := range req.Messages {
		if m.Role == "user" {
			b.Write(m.Content)
		}
	}
	return b.String()
}

// as is errors.AsType that fails the test.
func as[E error](tb testing.TB, err error) E {
	tb.Helper()
	e, ok := errors.AsType[E](err)
	if !ok {
		tb.Fatalf("got %T %v", err, err)
	}
	return e
}
