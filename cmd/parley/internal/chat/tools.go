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

// toolCall is a call without an outcome.
type toolCall struct {
	id      string
	name    string
	detail  string // its input in short
	depth   int    // of subagents
	printed bool   // its line was started
	begun   time.Time
	denied  string // the reason why it was denied, or ""
	refused string // the reason why a person denied it
}

const (
	callMark    = "●"
	okMark      = "✓"
	failMark    = "✗"
	pendingMark = "–"

	outcomeSpace = 12 // columns that a call leaves for its outcome
)

// call shows a tool call. On a terminal it appears at once and its line stays open for the
// outcome; elsewhere a line is written with the outcome.
//
// If an agent reports a call before its input, like agents of the Agent Client Protocol, the line
// starts when the call runs or needs permission.
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

// begin starts the line of a call on a terminal.
func (p *printer) begin(c *toolCall) {
	to := p.con.Aside()
	if p.quiet || !to.TTY || c.printed {
		return
	}
	c.printed = true
	to.Begin(term.Line, c.id)
	to.Print(c.head(to, callMark, term.Plain, outcomeSpace))
}

// shows reports whether a shown call has no outcome yet.
func (p *printer) shows(id string) bool {
	return slices.ContainsFunc(p.calls, func(c *toolCall) bool { return c.id == id })
}

// outcome shows the outcome of a call: on its line if that is the last one on the terminal, else
// on a new line with its name.
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

// head returns the start of a call's line, cut to leave space for the outcome.
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

// endCalls reports calls without an outcome.
func (p *printer) endCalls() {
	to := p.con.Aside()
	for _, c := range p.calls {
		if !p.quiet && !to.TTY {
			to.Line(c.head(to, callMark, term.Plain, 0) + "  " + pendingMark + " no outcome")
		}
	}
	p.calls = nil
}

// denied records that a call was denied; its outcome shows it.
func (p *printer) denied(id, name, text string) {
	for _, c := range p.calls {
		if c.id == id {
			c.denied = text
			return
		}
	}
	p.note(name + " denied: " + text)
}

// refuse records that a person denied a call, for an outcome without text.
func (p *printer) refuse(ev *event.PermissionResolved) {
	for _, c := range p.calls {
		if c.id == ev.ToolUseID {
			c.refused = cmp.Or(term.OneLine(ev.Message), unexplained[ev.Behavior], ev.Behavior)
		}
	}
}

// unexplained are the ends of a request without a reason.
var unexplained = map[string]string{
	event.ResolvedDeny: "no reason was given", event.ResolvedCancelled: "it is no longer asked", event.ResolvedExpired: "the agent has ended",
}

// depth returns the nesting depth of a call made by the subagent of the call parent.
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

// detailKeys are the most informative members of an input, in order.
var detailKeys = []string{"command", "file_path", "notebook_path", "pattern", "path", "url", "query", "description", "skill", "subject", "prompt"}

// detail returns a short form of a tool's input.
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

// words returns a string, or joins a list of strings, which some agents use for commands.
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

// relative returns a path relative to the working directory, if it is inside.
func (p *printer) relative(s string) string {
	if p.cwd == "" {
		return s
	}
	if rest, ok := strings.CutPrefix(s, p.cwd+string(filepath.Separator)); ok && rest != "" {
		return rest
	}
	return s
}

// errorLine returns the error text of a tool in one line.
func errorLine(text string) string {
	text = strings.TrimPrefix(strings.TrimSpace(text), "```\n") // ACP agents quote the failed command
	text = strings.TrimPrefix(text, "<tool_use_error>")
	text = strings.TrimSuffix(text, "</tool_use_error>")
	if text = term.FirstLine(text); text == "" {
		return "failed"
	}
	return text
}
