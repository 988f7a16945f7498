package session

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/contextref"
)

// MaxTitle is the maximum number of characters of a title.
const MaxTitle = 80

// ValidTitle returns a title of a person or a model, made safe to show, and whether it is valid: a
// line of visible characters that is not too long.
func ValidTitle(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if s == "" || !utf8.ValidString(s) || utf8.RuneCountInString(s) > MaxTitle {
		return "", false
	}
	letters := false
	for _, r := range s {
		if !unicode.IsPrint(r) { // also control characters and those that change the direction
			return "", false
		}
		letters = letters || unicode.IsLetter(r) || unicode.IsNumber(r)
	}
	return s, letters
}

// maxTitled is the number of bytes of a prompt that are used for a title.
const maxTitled = 64 << 10

// promptTitle derives a title from a prompt: its first words, without the list of references before them.
func promptTitle(prompt string) string {
	prompt = prompt[:min(len(prompt), maxTitled)]
	if text, refs := contextref.Parse(prompt); len(refs) > 0 && strings.TrimSpace(text) != "" {
		prompt = text
	}
	clean := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, prompt)
	clean = strings.Join(strings.Fields(clean), " ")
	if runes := []rune(clean); len(runes) > MaxTitle {
		return strings.TrimSpace(string(runes[:MaxTitle-1])) + "…"
	}
	return clean
}

// titles sets the title of a session. It belongs to the loop.
type titles struct {
	*life
	titling bool // the agent was asked for one
}

// titleSoon sets the title of the session after its first turn, unless it has one.
func (t *titles) titleSoon() {
	prompt := t.core.FirstPrompt
	if t.core.Title != "" || t.titling || prompt == "" || t.agent == nil {
		return
	}
	titler, ok := t.agent.session.(agent.Titler)
	if !ok {
		t.setTitle(promptTitle(prompt), "prompt")
		return
	}
	t.titling = true
	t.srv.wg.Go(func() {
		ctx, cancel := context.WithTimeout(t.ctx, t.srv.opts.CallTimeout)
		defer cancel()
		title, err := titler.Title(ctx, prompt)
		t.post(func() {
			t.titling = false
			if t.core.Title != "" {
				return // a person was faster
			}
			if clean, ok := ValidTitle(title); err == nil && ok {
				t.setTitle(clean, "agent")
			} else {
				t.setTitle(promptTitle(prompt), "prompt")
			}
			_ = t.write() // kept and retried by tick
		})
	})
}

func (t *titles) setTitle(title, by string) {
	if title != "" {
		t.draft(t.core.titleDraft(title, by))
	}
}

func (c *core) titleDraft(title, by string) draft {
	return draft{event: &event.SessionInfo{Header: c.header(""), Title: &title}, facts: &facts{Title: title, TitleBy: by}}
}
