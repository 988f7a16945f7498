package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
)

// toolCall is a call whose outcome is not known yet.
type toolCall struct {
	id     string
	name   string
	detail string // what it is called with, in short
	depth  int    // of subagents
	begun  time.Time
	denied string // why it was not allowed; "" if it was
}

const (
	callMark    = "●"
	okMark      = "✓"
	failMark    = "✗"
	pendingMark = "–"

	plainWidth   = 200 // of a line that is not on a terminal
	outcomeSpace = 12  // columns that a call leaves for its outcome
)

// call shows a tool call. On a terminal it appears at once and its line is left
// open for the outcome; elsewhere a line is written when the outcome is known.
func (p *printer) call(id, name string, input message.JSON, parent string) {
	c := &toolCall{
		id: strings.Clone(id), name: oneLine(name), detail: p.detail(input), begun: p.now(),
		depth: p.depth(parent),
	}
	p.calls = append(p.calls, c)
	to := p.con.aside()
	if p.quiet || !to.tty {
		return
	}
	to.begin(line, c.id)
	to.write(c.head(to, callMark, plain, outcomeSpace))
}

// shows reports whether a call was shown that has no outcome yet.
func (p *printer) shows(id string) bool {
	return slices.ContainsFunc(p.calls, func(c *toolCall) bool { return c.id == id })
}

// outcome shows what became of a call: after it where it is the last thing on the terminal,
// else on a line that names it.
func (p *printer) outcome(id string, failed bool, text string) {
	i := slices.IndexFunc(p.calls, func(c *toolCall) bool { return c.id == id })
	if i < 0 {
		return
	}
	c := p.calls[i]
	p.calls = slices.Delete(p.calls, i, i+1)
	if p.quiet {
		return
	}
	mark, look, what := okMark, green, seconds(p.now().Sub(c.begun))
	switch {
	case c.denied != "":
		mark, look, what = failMark, red, "denied: "+c.denied
	case failed:
		mark, look, what = failMark, red, errorLine(text)
	}
	to := p.con.aside()
	switch {
	case !to.tty:
		to.line(c.head(to, callMark, plain, 0) + "  " + mark + " " + shorten(what, plainWidth))
	case to.cur.owner == c.id:
		head := width(c.head(&pen{width: to.width}, callMark, plain, outcomeSpace))
		if room := to.width - head - 4; to.width > 0 && width(what) > room && room < 30 {
			to.write("\n" + strings.Repeat("  ", c.depth+1))
		}
		to.write("  " + to.paint(look, mark) + " " + to.paint(dim, shorten(what, to.room(head))) + "\n")
		to.cur.owner = ""
	default:
		to.line(c.head(to, mark, look, width(what)+2) + "  " + to.paint(dim, shorten(what, to.room(40))))
	}
}

// room is how many columns an outcome may take after so many others.
func (p *pen) room(used int) int {
	if p.width == 0 {
		return plainWidth
	}
	if room := p.width - used - 4; room >= 30 {
		return room
	}
	return max(p.width-8, 30)
}

// head is a call as its line begins, cut so that some columns are left.
func (c *toolCall) head(to *pen, mark string, look style, leave int) string {
	indent := strings.Repeat("  ", c.depth)
	limit := plainWidth
	if to.width > 0 {
		limit = max(to.width-leave-len(indent)-width(c.name)-4, 20)
	}
	s := indent + to.paint(look, mark) + " " + to.paint(bold, c.name)
	if c.detail != "" {
		s += "  " + shorten(c.detail, limit)
	}
	return s
}

// endCalls tells of calls that had no outcome.
func (p *printer) endCalls() {
	to := p.con.aside()
	for _, c := range p.calls {
		if !p.quiet && !to.tty {
			to.line(c.head(to, callMark, plain, 0) + "  " + pendingMark + " no outcome")
		}
	}
	p.calls = nil
}

// denied notes that a call is not allowed; its outcome tells it.
func (p *printer) denied(m *message.PermissionDenied) {
	text := firstLine(m.Message)
	for _, c := range p.calls {
		if c.id == m.ToolUseID {
			c.denied = text
			return
		}
	}
	p.note(m.ToolName + " denied: " + text)
}

// depth is how deep in subagents a call lies that was made under the call
// parent.
func (p *printer) depth(parent string) int {
	if parent == "" {
		return 0
	}
	for _, c := range p.calls {
		if c.id == parent {
			return c.depth + 1
		}
	}
	return 1
}

// detailKeys are the members of an input that say most, in order.
var detailKeys = []string{"command", "file_path", "notebook_path", "pattern", "path", "url", "query", "description", "skill", "subject", "prompt"}

// detail is a tool's input in short.
func (p *printer) detail(input message.JSON) string {
	members, _ := input.Value().(map[string]any)
	if _, unparsed := members["__unparsedToolInput"]; unparsed {
		return "(input that is not JSON)"
	}
	for _, key := range detailKeys {
		if s, ok := members[key].(string); ok && s != "" {
			return p.relative(oneLine(s))
		}
	}
	if len(members) == 0 {
		return ""
	}
	return oneLine(string(input))
}

// relative is a path as seen from the working directory, if it lies in it.
func (p *printer) relative(s string) string {
	if p.cwd == "" {
		return s
	}
	if rest, ok := strings.CutPrefix(s, p.cwd+string(filepath.Separator)); ok && rest != "" {
		return rest
	}
	return s
}

// errorLine is what a tool said when it failed, in one line.
func errorLine(text string) string {
	text = strings.TrimPrefix(strings.TrimSpace(text), "<tool_use_error>")
	text = strings.TrimSuffix(text, "</tool_use_error>")
	if text = firstLine(text); text == "" {
		return "failed"
	}
	return text
}

// seconds is a duration as a person reads it.
func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
