package chat

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// toolCall is a call whose outcome is not known yet.
type toolCall struct {
	id      string
	name    string
	detail  string // what it is called with, in short
	depth   int    // of subagents
	printed bool   // its line was begun
	begun   time.Time
	denied  string // why it was not allowed; "" if it was
	refused string // why a person did not allow it
}

const (
	callMark    = "●"
	okMark      = "✓"
	failMark    = "✗"
	pendingMark = "–"

	outcomeSpace = 12 // columns that a call leaves for its outcome
)

// call shows a tool call. On a terminal it appears at once and its line is left
// open for the outcome; elsewhere a line is written when the outcome is known.
//
// An agent that reports a call before its input, as those of the Agent Client Protocol do, has its
// line begun late: when the call runs or needs a permission.
func (p *printer) call(id, name string, input event.JSON, parent string, late bool) {
	c := &toolCall{
		id: strings.Clone(id), name: term.OneLine(name), detail: p.detail(input), begun: p.now(),
		depth: p.depth(parent),
	}
	p.calls = append(p.calls, c)
	if !late {
		p.begin(c)
	}
}

// begin begins the line of a call, on a terminal.
func (p *printer) begin(c *toolCall) {
	to := p.con.Aside()
	if p.quiet || !to.TTY || c.printed {
		return
	}
	c.printed = true
	to.Begin(term.Line, c.id)
	to.Print(c.head(to, callMark, term.Plain, outcomeSpace))
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
	mark, look, what := okMark, term.Green, term.Seconds(p.now().Sub(c.begun))
	if text == "" || !failed {
		c.denied = cmp.Or(c.denied, c.refused)
	}
	switch {
	case c.denied != "":
		mark, look, what = failMark, term.Red, "denied: "+c.denied
	case failed:
		mark, look, what = failMark, term.Red, errorLine(text)
	}
	to := p.con.Aside()
	switch {
	case !to.TTY:
		to.Line(c.head(to, callMark, term.Plain, 0) + "  " + mark + " " + term.Shorten(what, term.PlainWidth))
	case to.Cur.Owner == c.id:
		head := term.Width(c.head(&term.Pen{Width: to.Width}, callMark, term.Plain, outcomeSpace))
		if room := to.Width - head - 4; to.Width > 0 && term.Width(what) > room && room < 30 {
			to.Print("\n" + strings.Repeat("  ", c.depth+1))
		}
		to.Print("  " + to.Paint(look, mark) + " " + to.Paint(term.Dim, term.Shorten(what, to.Room(head))) + "\n")
		to.Cur.Owner = ""
	default:
		to.Line(c.head(to, mark, look, term.Width(what)+2) + "  " + to.Paint(term.Dim, term.Shorten(what, to.Room(40))))
	}
}

// head is a call as its line begins, cut so that some columns are left.
func (c *toolCall) head(to *term.Pen, mark string, look term.Style, leave int) string {
	indent := strings.Repeat("  ", c.depth)
	limit := term.PlainWidth
	if to.Width > 0 {
		limit = max(to.Width-leave-len(indent)-term.Width(c.name)-4, 20)
	}
	s := indent + to.Paint(look, mark) + " " + to.Paint(term.Bold, c.name)
	if c.detail != "" {
		s += "  " + term.Shorten(c.detail, limit)
	}
	return s
}

// endCalls tells of calls that had no outcome.
func (p *printer) endCalls() {
	to := p.con.Aside()
	for _, c := range p.calls {
		if !p.quiet && !to.TTY {
			to.Line(c.head(to, callMark, term.Plain, 0) + "  " + pendingMark + " no outcome")
		}
	}
	p.calls = nil
}

// denied notes that a call is not allowed; its outcome tells it.
func (p *printer) denied(id, name, text string) {
	for _, c := range p.calls {
		if c.id == id {
			c.denied = text
			return
		}
	}
	p.note(name + " denied: " + text)
}

// refuse notes that a person did not allow a call, for an outcome that has no text.
func (p *printer) refuse(ev *event.PermissionResolved) {
	for _, c := range p.calls {
		if c.id == ev.ToolUseID {
			c.refused = cmp.Or(term.OneLine(ev.Message), unexplained[ev.Behavior], ev.Behavior)
		}
	}
}

// unexplained are the ends of a request for which nobody gave a reason.
var unexplained = map[string]string{
	event.ResolvedDeny: "no reason was given", event.ResolvedCancelled: "it is no longer asked", event.ResolvedExpired: "the agent has ended",
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
func (p *printer) detail(input event.JSON) string {
	members, _ := input.Value().(map[string]any)
	if _, unparsed := members["__unparsedToolInput"]; unparsed {
		return "(input that is not JSON)"
	}
	for _, key := range detailKeys {
		if s := words(members[key]); s != "" {
			return p.relative(term.OneLine(s))
		}
	}
	if len(members) == 0 {
		return ""
	}
	var paths []string
	changes, _ := input.Member("changes")
	for _, change := range changes.Elements() {
		path, _ := change.Member("path")
		paths = append(paths, p.relative(term.OneLine(path.Text())))
	}
	return cmp.Or(strings.Join(paths, " "), term.OneLine(string(input)))
}

// words are a text, or the texts of a list, as some agents give the words of a command.
func words(v any) string {
	list, _ := v.([]any)
	var all []string
	for _, one := range list {
		if s, ok := one.(string); ok {
			all = append(all, s)
		}
	}
	s, _ := v.(string)
	return cmp.Or(s, strings.Join(all, " "))
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
	text = strings.TrimPrefix(strings.TrimSpace(text), "```\n") // ACP agents quote what failed
	text = strings.TrimPrefix(text, "<tool_use_error>")
	text = strings.TrimSuffix(text, "</tool_use_error>")
	if text = term.FirstLine(text); text == "" {
		return "failed"
	}
	return text
}
