package session

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestQueued checks that only a waiting input can be changed.
func TestQueued(t *testing.T) {
	commands := map[string]func(*core, string) (draft, error){
		"edit":   func(c *core, id string) (draft, error) { return c.editInput(id, mustJSON("other")) },
		"remove": func(c *core, id string) (draft, error) { return c.removeInput(id) },
	}
	for status, waits := range map[inputStatus]bool{inputQueued: true, inputHeld: true, inputUnknown: true, inputSent: false, inputDelivered: false} {
		for name, command := range commands {
			c := &core{Inputs: []input{{ID: "a", Content: mustJSON("x"), Status: status}}}
			if _, err := command(c, "a"); (err == nil) != waits {
				t.Errorf("%s of an input that is %s: %v, want it to be possible: %v", name, status, err, waits)
			}
			if _, err := command(c, "b"); FailureOf(err).Reason != api.Conflict {
				t.Errorf("%s of an input that is not there: %v", name, err)
			}
		}
		c := &core{Inputs: []input{{ID: "a", Content: mustJSON("x"), Status: status}}}
		if _, err := c.reorder([]string{"a"}); (err == nil) != waits {
			t.Errorf("a new order of an input that is %s: %v", status, err)
		}
		if in, next := c.nextInput(); next != (status == inputQueued) || next && in.ID != "a" {
			t.Errorf("an input that is %s is sent next: %v", status, next)
		}
	}
}

// TestQueue_bound checks that a queue accepts its last input and no more.
func TestQueue_bound(t *testing.T) {
	c := &core{}
	for range maxQueue - 1 {
		c.Inputs = append(c.Inputs, input{Status: inputQueued})
	}
	in := input{ID: "a", Content: mustJSON("x"), Status: inputQueued}
	if _, err := c.enqueue(in, ""); err != nil {
		t.Errorf("input %d: %v", maxQueue, err)
	}
	c.Inputs = append(c.Inputs, in)
	if _, err := c.enqueue(in, ""); FailureOf(err).Reason != api.LimitReached {
		t.Errorf("input %d: %v, want a refusal", maxQueue+1, err)
	}
}

// TestLimitedUntil checks which resets of a rate limit are accepted: future ones, not further away
// than any limit lasts.
func TestLimitedUntil(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		limited string
		want    bool
	}{
		"none":             {"", false},
		"no time":          {"soon", false},
		"past":             {Timestamp(now.Add(-time.Second)), false},
		"now":              {Timestamp(now), false},
		"to come":          {Timestamp(now.Add(time.Second)), true},
		"the furthest":     {Timestamp(now.Add(maxResetWait)), true},
		"further":          {Timestamp(now.Add(maxResetWait + time.Second)), false},
		"years away":       {Timestamp(now.AddDate(40, 0, 0)), false},
		"as far as it can": {Timestamp(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)), false},
	} {
		k := core{Limited: c.limited, Opened: Opened{Params: api.ConnectParams{WaitForRateLimit: true}}}
		if got := k.limitedUntil(now); (got != "") != c.want || got != "" && got != c.limited {
			t.Errorf("%s: limited until %q, want %v", name, got, c.want)
		}
		if got := k.waitsForReset(now); got != c.want {
			t.Errorf("%s: inputs wait: %v, want %v", name, got, c.want)
		}
		k.Opened.Params.WaitForRateLimit = false
		if k.waitsForReset(now) {
			t.Errorf("%s: inputs wait, and nobody asked for it", name)
		}
		failed, fine := &event.ResultMessage{IsError: true}, &event.ResultMessage{}
		if n := len(k.waitForReset(failed, now, "id")); (n == 1) != c.want || n > 1 {
			t.Errorf("%s: %d drafts after a turn that failed", name, n)
		}
		if n := len(k.waitForReset(fine, now, "id")); n != 0 {
			t.Errorf("%s: %d drafts after a turn that did not fail", name, n)
		}
	}
}

// TestWaitForReset checks what follows from a turn that fails at a rate limit: a notice, and if it was requested a prompt before the waiting ones.
func TestWaitForReset(t *testing.T) {
	now := time.Now()
	for name, tt := range map[string]struct {
		failed, waits bool
		until         time.Time
		want          string
	}{
		"requested":      {true, true, now.Add(time.Hour), "notice; [id waiting]"},
		"not requested":  {true, false, now.Add(time.Hour), "notice"},
		"no failure":     {false, true, now.Add(time.Hour), ""},
		"an ended limit": {true, true, now.Add(-time.Hour), ""},
	} {
		c := &core{Limited: Timestamp(tt.until), Inputs: []input{{ID: "waiting", Content: `"w"`, Status: inputQueued}}}
		c.Opened.Params.WaitForRateLimit = tt.waits
		var got []string
		for _, d := range c.waitForReset(&event.ResultMessage{IsError: tt.failed}, now, "id") {
			if d.event != nil {
				got = append(got, "notice")
				continue
			}
			got = append(got, fmt.Sprint(d.facts.Order))
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%s: the consequences are %q, want %q", name, got, tt.want)
		}
	}
}

// TestRateLimited checks the parsing of an event about a rate limit.
func TestRateLimited(t *testing.T) {
	reset := time.Unix(1_800_000_000, 0)
	for info, want := range map[string]*string{
		"": nil, `[]`: nil, `{}`: nil, `{"status":"allowed","resetsAt":1800000000}`: new(""), `{"status":"allowed_warning"}`: new(""),
		`{"status":"rejected","resetsAt":1800000000}`: new(Timestamp(reset)), `{"status":"rejected"}`: new(""), `{"status":"rejected","resetsAt":-1}`: new(""),
		`{"status":"rejected","resetsAt":1e11}`: new(""), `{"status":"rejected","resetsAt":1e300}`: new(""),
	} {
		got := rateLimited(&event.RateLimit{Info: event.JSON(info)})
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %v, want %v", info, got, want)
		}
	}
}

// TestKeys_bound checks that a session stores the newest idempotency keys, and no more.
func TestKeys_bound(t *testing.T) {
	c := &core{}
	for i := range maxKeys + 3 {
		c.apply(uint64(i+1), "", &facts{Key: &accepted{Key: fmt.Sprint(i)}})
	}
	if len(c.Keys) != maxKeys {
		t.Errorf("%d keys are kept, want %d", len(c.Keys), maxKeys)
	}
	for i, known := range map[int]bool{0: false, 2: false, 3: true, maxKeys + 2: true} {
		if k, ok := c.accepted(fmt.Sprint(i)); ok != known || ok && k.Seq != uint64(i+1) {
			t.Errorf("key %d is known: %v at %d, want %v", i, ok, k.Seq, known)
		}
	}
	if _, ok := c.accepted(""); ok {
		t.Error("no key is known")
	}
}

// TestStall_off checks that a step without a time is not taken.
func TestStall_off(t *testing.T) {
	for name, c := range map[string]struct {
		policy Stall
		want   stallStep
	}{
		"none": {Stall{}, stallNone}, "a notice": {Stall{Notify: 1}, stallNotified}, "an interrupt": {Stall{Interrupt: 1}, stallInterrupted}, "the end": {Stall{Kill: 1}, stallKilled},
		"a notice and the end": {Stall{Notify: 1, Kill: 1000}, stallNotified},
	} {
		if got := c.policy.next(100, stallNone); got != c.want {
			t.Errorf("%s: step %d, want %d", name, got, c.want)
		}
	}
}

// TestCloseRequests checks that the end of an agent closes its requests, and not those of the server.
func TestCloseRequests(t *testing.T) {
	c := core{Memory: memory{Asked: "own"}, Requests: []pendingPrompt{
		{Prompt: event.Prompt{Permission: &event.PermissionRequest{RequestID: "p"}}}, {Prompt: event.Prompt{Question: &event.QuestionRequest{RequestID: "own"}}},
		{Prompt: event.Prompt{Question: &event.QuestionRequest{RequestID: "q"}}},
	}}
	for _, d := range c.closeRequests(event.ResolvedExpired) {
		if event.ResolvedID(d.event) != d.facts.Resolved {
			t.Errorf("%q is resolved for viewers, %q for the server", event.ResolvedID(d.event), d.facts.Resolved)
		}
		c.apply(1, "", d.facts)
	}
	if len(c.Requests) != 1 || c.Requests[0].id() != "own" {
		t.Errorf("open are %+v, want the server's own", c.Requests)
	}
}

// The text of an input, used for titles, is the text of its text blocks.
func TestInput_text(t *testing.T) {
	for content, want := range map[event.JSON]string{
		`"words"`: "words",
		`[{"type":"text","text":"one "},{"type":"image","text":"no"},{"type":"text","text":"two"}]`: "one two",
		`[{"type":"image"}]`:             "",
		`[7,{"type":"text","text":"x"}]`: "x",
		`not JSON`:                       "",
	} {
		if got := (input{Content: content}).text(); got != want {
			t.Errorf("the text of %s is %q, want %q", content, got, want)
		}
	}
	for n := range 12 { // also of a text that is no JSON
		for _, text := range []event.JSON{`"aaaaaa`, `"aaa\`, `"aaaa\u00`, `"a\u00e9\u00`} {
			if got := startOf(text, n); len(got) > max(n+len(`\u0000`), len(text)) {
				t.Errorf("the first %d bytes of %s are %s, want little more", n, text, got)
			}
		}
	}
	short.SkipQuick(t, "makes titles of large inputs")
	// The beginning of a large text has the same title, wherever it is cut.
	for _, part := range []string{"word ", "é ", "\n\"", "\u0001", "😀 "} {
		for before := range 7 {
			text := strings.Repeat("a", before) + strings.Repeat(part, 7*maxTitled/len(part))
			for _, content := range []event.JSON{event.Quote(text), inASCII(text)} {
				got := (input{Content: content}).text()
				if !strings.HasPrefix(text, strings.TrimRight(got, "\ufffd")) || len(got) < maxTitled || promptTitle(got) != promptTitle(text) {
					t.Errorf("the beginning of %.40q has %d bytes and the title %q", content, len(got), promptTitle(got))
				}
			}
		}
	}
}

// inASCII returns a JSON string with an escape for everything but letters and spaces.
func inASCII(text string) event.JSON {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		if unit == ' ' || unit >= 'a' && unit <= 'z' {
			b.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return event.JSON(`"` + b.String() + `"`)
}

// An excerpt is one line around the first match, cut between characters, with marks where it is cut.
func TestAround(t *testing.T) {
	long := strings.Repeat("ä", 500)
	for _, tt := range []struct {
		text, query string
		whole       bool // the excerpt is the text
		ok          bool
	}{
		{"one two", "two", true, true}, {"one TWO", "two", true, true}, {"one", "two", false, false}, {"", "x", false, false},
		{long + "match" + long, "match", false, true}, {"match" + long, "match", false, true}, {long + "match", "match", false, true}, {"x" + long + "match" + long, "match", false, true},
	} {
		got, ok := around(tt.text, tt.query)
		if ok != tt.ok || tt.whole && got != tt.text || !utf8.ValidString(got) {
			t.Errorf("around %q in %d bytes: %q, %v, want a match: %v", tt.query, len(tt.text), got, ok, tt.ok)
		}
		if !ok || tt.whole {
			continue
		}
		before, after, found := strings.Cut(got, tt.query)
		cutBefore, cutAfter := strings.HasPrefix(got, "…"), strings.HasSuffix(got, "…")
		if !found || cutBefore == strings.HasPrefix(tt.text, tt.query) || cutAfter == strings.HasSuffix(tt.text, tt.query) || len(before) > excerptBefore+8 || len(before)+len(tt.query)+len(after) > excerptAll+16 {
			t.Errorf("the excerpt of %d bytes is %q, cut before: %v, after: %v", len(tt.text), got, cutBefore, cutAfter)
		}
	}
	if got, _ := around("a\n\tmatch  b", "match"); got != "a match b" {
		t.Errorf("the excerpt is %q, want one line", got)
	}
}
