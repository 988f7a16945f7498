package prose

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
)

// The kinds of an [Entry]: a message of a person or the model, a thought, a tool call, or a note.
const (
	User      = "user"
	Assistant = "assistant"
	Thinking  = "thinking"
	Tool      = "tool"
	Note      = "note" // a compaction, an error, an unknown item
)

// Entry is one message or action of a conversation.
type Entry struct {
	Kind  string
	Depth int    // 0 is the main conversation, 1 a subagent of it, and so on
	ID    string // the id of the message, or of the tool's call
	Time  string // as in the agent's files; empty if unknown
	Text  string // Markdown of a person or a model; for a tool, its input
	// Output is the output of a tool, Failed whether it failed, Name its name.
	Output string
	Failed bool
	Name   string
}

// maxDepth limits the nesting of subagents: deeper ones are not written.
const maxDepth = 20

// Entries returns the messages and actions in order, a subagent's after the call that started it.
// Texts are unmodified: a program that shows them must sanitize them.
func Entries(c *event.Conversation) []Entry {
	w := &walker{c: c, seen: map[string]bool{}}
	w.thread("", 0)
	return w.list
}

type walker struct {
	c    *event.Conversation
	list []Entry
	seen map[string]bool // visited threads, by the call that started them
}

func (w *walker) thread(parent string, depth int) {
	t := w.c.Thread(parent)
	if t == nil || w.seen[parent] || depth > maxDepth {
		return
	}
	w.seen[parent] = true
	for _, i := range t.Items {
		switch {
		case i.Message != nil:
			w.message(i.Message, depth)
		case i.Compaction != nil:
			w.add(Entry{Kind: Note, Depth: depth, Text: "The conversation was compacted here."})
		case i.Error != nil:
			w.add(Entry{Kind: Note, Depth: depth, Text: i.Error.Message})
		case i.Result != nil:
			w.result(i.Result, depth)
		case i.ToolResult != nil:
			w.add(Entry{Kind: Tool, Depth: depth, ID: i.ToolResult.ToolUseID, Output: plain(i.ToolResult.Content), Failed: i.ToolResult.IsError})
		case i.Unknown != nil:
			w.add(Entry{Kind: Note, Depth: depth, Text: "[" + i.Unknown.OriginalType + "]"})
		}
	}
}

func (w *walker) add(e Entry) { w.list = append(w.list, e) }

// result adds the reason of a failed turn; the answer of a successful one is already included.
func (w *walker) result(r *event.ResultMessage, depth int) {
	if r.IsError {
		w.add(Entry{Kind: Note, Depth: depth, ID: r.UUID, Text: strings.Join(append([]string{"The turn ended: " + r.Subtype}, r.Errors...), "\n")})
	}
}

func (w *walker) message(m *event.Message, depth int) {
	id := cmp.Or(m.UUID, m.ID)
	for _, b := range m.Blocks {
		e := Entry{Kind: m.Role, Depth: depth, ID: id, Time: m.Timestamp(), Text: b.Text.String()}
		switch {
		case b.Tool != nil:
			w.tool(b.Tool, m, depth)
			continue
		case b.Type == "thinking":
			e.Kind = Thinking
		case b.Type != "text":
			e.Text = "[" + b.Type + "]"
		}
		if strings.TrimSpace(e.Text) != "" {
			w.add(e)
		}
	}
}

func (w *walker) tool(t *event.ToolCall, m *event.Message, depth int) {
	e := Entry{Kind: Tool, Depth: depth, ID: t.ID, Time: m.Timestamp(), Name: t.Name, Text: input(t), Output: plain(t.Result), Failed: t.Status == event.ToolFailed}
	if t.Status == event.ToolInterrupted {
		e.Failed, e.Output = true, "interrupted: the agent ended before the tool"
	}
	if t.Progress != nil && (e.Output == "" || t.Truncated) && t.Progress.Output.Len() > len(e.Output) {
		e.Output = t.Progress.Output.String()
	}
	w.add(e)
	w.thread(t.ID, depth+1)
}

// input returns the input of a tool: the text of one member if that is sufficient, else JSON.
func input(t *event.ToolCall) string {
	if command, ok := t.Input.Member("command"); ok && command.Text() != "" {
		return command.Text()
	}
	if t.Input != "" {
		return string(t.Input)
	}
	return t.InputText.String()
}

// plain returns the text of a result: a string, or blocks, with the types of those without text.
func plain(j event.JSON) string {
	if s := j.Text(); s != "" || j == "" {
		return s
	}
	var parts []string
	for _, b := range j.Elements() {
		text, _ := b.Member("text")
		if s := text.Text(); s != "" {
			parts = append(parts, s)
			continue
		}
		typ, _ := b.Member("type")
		parts = append(parts, "["+typ.Text()+"]")
	}
	if parts == nil {
		return string(j)
	}
	return strings.Join(parts, "\n")
}

// Options configures [Markdown]. The zero value writes everything: thoughts, tools with their whole
// output, and subagents.
type Options struct {
	NoThinking  bool
	NoTools     bool
	NoSubagents bool
	Output      int // limit in bytes of a tool's output; 0 is unlimited
}

// Wants reports whether the options select an entry. Long outputs are cut elsewhere, not omitted.
func (o Options) Wants(e *Entry) bool {
	return !(e.Kind == Thinking && o.NoThinking || e.Kind == Tool && o.NoTools || e.Depth > 0 && o.NoSubagents)
}

// Markdown writes a conversation. Fences are long enough for the code inside.
func Markdown(c *event.Conversation, o Options) string {
	var b strings.Builder
	who := ""
	for _, e := range Entries(c) {
		if !o.Wants(&e) {
			continue
		}
		if key := fmt.Sprint(e.Kind == User, e.Depth); key != who {
			who = key
			b.WriteString(e.Heading() + "\n\n")
		}
		b.WriteString(e.Markdown(o.Output) + "\n\n")
	}
	return b.String()
}

// Heading returns the name of the speaker: the person, the agent, or a subagent.
func (e *Entry) Heading() string {
	switch {
	case e.Kind == User && e.Depth == 0:
		return "## User"
	case e.Depth == 0:
		return "## Agent"
	}
	return strings.Repeat("#", min(2+e.Depth, 6)) + " Subagent"
}

// Markdown returns the entry, with at most output bytes of a tool's output; 0 is unlimited.
func (e *Entry) Markdown(output int) string {
	switch e.Kind {
	case Thinking:
		return "> " + strings.ReplaceAll(strings.TrimRight(e.Text, "\n"), "\n", "\n> ")
	case Note:
		return "*" + strings.ReplaceAll(strings.TrimSpace(e.Text), "\n", " ") + "*"
	case Tool:
		return e.tool(output)
	}
	return strings.TrimRight(e.Text, "\n")
}

func (e *Entry) tool(output int) string {
	name := cmp.Or(e.Name, "a tool")
	var b strings.Builder
	b.WriteString("**" + strings.NewReplacer("*", "\\*", "\n", " ").Replace(name) + "**")
	if e.Failed {
		b.WriteString(" (failed)")
	}
	if e.Text != "" {
		b.WriteString("\n\n" + fence(e.Text))
	}
	if e.Output != "" {
		b.WriteString("\n\n" + fence(Cut(e.Output, output)))
	}
	return b.String()
}

// fence puts a text between fences that are longer than any in it.
func fence(s string) string {
	longest, run := 2, 0
	for i := range len(s) {
		if run++; s[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	mark := strings.Repeat("`", longest+1)
	return mark + "\n" + strings.TrimRight(s, "\n") + "\n" + mark
}

// Cut shortens a text to about n bytes by replacing its middle with a note of the omitted size. If
// n is 0 it returns the text unchanged.
func Cut(s string, n int) string {
	if n <= 0 || len(s) <= n {
		return s
	}
	head, tail := s[:n*2/3], s[len(s)-n/3:]
	head, tail = strings.ToValidUTF8(head, ""), strings.ToValidUTF8(tail, "")
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", head, len(s)-len(head)-len(tail), tail)
}
