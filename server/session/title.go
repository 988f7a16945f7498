package session

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// MaxTitle is how many characters a title has at most.
const MaxTitle = 80

// ValidTitle returns a title that a person or a model gave, made safe to show, and whether
// it is one: a line of visible characters that is not too long.
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

// promptTitle makes a title of a prompt: its first words.
func promptTitle(prompt string) string {
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

// titleSoon gives the session a title after its first turn, unless it has one.
func (a *actor) titleSoon() {
	prompt := a.core.FirstPrompt
	if a.core.Title != "" || a.titling || prompt == "" || a.agent == nil {
		return
	}
	titler, ok := a.agent.session.(agent.Titler)
	if !ok {
		a.setTitle(promptTitle(prompt), "prompt")
		return
	}
	a.titling = true
	a.srv.wg.Add(1)
	go func() {
		defer a.srv.wg.Done()
		ctx, cancel := context.WithTimeout(a.ctx, a.srv.opts.CallTimeout)
		defer cancel()
		title, err := titler.Title(ctx, prompt)
		a.post(func() {
			a.titling = false
			if a.core.Title != "" {
				return // a person was faster
			}
			if clean, ok := ValidTitle(title); err == nil && ok {
				a.setTitle(clean, "agent")
			} else {
				a.setTitle(promptTitle(prompt), "prompt")
			}
			_ = a.write() // kept and tried again by tick
		})
	}()
}

func (a *actor) setTitle(title, by string) {
	if title != "" {
		a.draft(a.core.titleDraft(title, by))
	}
}

func (c *core) titleDraft(title, by string) draft {
	return draft{event: &event.SessionInfo{Header: c.header(""), Title: &title}, facts: &facts{Title: title, TitleBy: by}}
}
