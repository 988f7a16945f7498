package item

import (
	"regexp"
	"strings"
)

// The reasons why an item was cut off before it was complete. See [ItemCut], which carries one
// of them.
const (
	CutTurnEnded = "turnEnded" // the turn ended, interrupted or not, and the item was open
	CutRetry     = "retry"     // the server repeats the request to the model and starts a new item
	CutEnd       = "end"       // the server exited
)

// ItemCut reports that an item will not be completed. The server does not send it, but leaves such
// an item open. Package codex creates one, so that every started item also ends. Item is the
// incomplete item, with the text of its deltas.
//
// A command that was cut off may still be running. If it is completed later, its [ItemCompleted]
// follows.
type ItemCut struct {
	Note
	Item   Item   `json:"item"`
	Reason string `json:"reason"`
}

// omitted matches the server's marker for the omitted middle of an output over 1 MiB.
var omitted = regexp.MustCompile(`\n\.\.\. \d+ bytes omitted \.\.\.\n`)

// maxOutput is the number of bytes of an output that the server keeps.
const maxOutput = 1 << 20

// Output returns the output of a command, given the joined deltas and the output of the completed
// item, which may be nil. The deltas can lack the start of the output, and the item has at most 1
// MiB. Output returns that of the item, unless it was shortened and the deltas are longer.
// truncated reports whether a part is or may be missing.
func Output(deltas string, aggregated *string) (text string, truncated bool) {
	switch {
	case aggregated == nil:
		return deltas, true
	case !cutOutput(*aggregated):
		return *aggregated, false
	case len(deltas) > len(*aggregated):
		return deltas, true
	}
	return *aggregated, true
}

// cutOutput reports whether the server has cut an output. The command may have written the marker,
// so the length is checked too.
func cutOutput(s string) bool {
	if len(s) < maxOutput {
		return false
	}
	return omitted.MatchString(s[maxOutput/2-8 : min(len(s), maxOutput/2+64)])
}

// Partial is an incomplete item with the text of its deltas. [NewPartial] creates one; the zero
// value is not usable. It is not safe for concurrent use.
type Partial struct {
	item    Item
	text    strings.Builder
	summary []*strings.Builder
	content []*strings.Builder
}

// NewPartial returns a partial item from the item of an [ItemStarted].
func NewPartial(i Item) *Partial { return &Partial{item: i} }

// maxParts limits the index of a part, and thereby the memory.
const maxParts = 10_000

// Add adds a delta to the item. The caller passes only notifications of this item; other
// notifications than deltas have no effect.
func (p *Partial) Add(n Notification) {
	switch n := n.(type) {
	case *AgentMessageDelta:
		p.text.WriteString(n.Delta)
	case *PlanDelta:
		p.text.WriteString(n.Delta)
	case *CommandOutputDelta:
		p.text.WriteString(n.Delta)
	case *ReasoningSummaryDelta:
		addPart(&p.summary, n.SummaryIndex, n.Delta)
	case *ReasoningTextDelta:
		addPart(&p.content, n.ContentIndex, n.Delta)
	case *FileChangePatchUpdated:
		if f, ok := p.item.(*FileChange); ok {
			c := *f
			c.text, c.Changes = "", n.Changes
			p.item = &c
		}
	}
}

func addPart(parts *[]*strings.Builder, index int64, delta string) {
	if index < 0 || index >= maxParts {
		return
	}
	for int64(len(*parts)) <= index {
		*parts = append(*parts, &strings.Builder{})
	}
	(*parts)[index].WriteString(delta)
}

// Text returns the deltas so far, joined, of a message, a plan or the output of a command.
func (p *Partial) Text() string { return p.text.String() }

// Started returns the item at its start, without the text of its deltas. A *[FileChange] has the
// changes of its newest [FileChangePatchUpdated].
func (p *Partial) Started() Item { return p.item }

// Item returns the item with its deltas. An item that has deltas has no Raw text.
func (p *Partial) Item() Item {
	switch i := p.item.(type) {
	case *AgentMessage:
		c := *i
		if p.text.Len() > 0 {
			c.text, c.Text = "", p.text.String()
		}
		return &c
	case *Plan:
		c := *i
		if p.text.Len() > 0 {
			c.text, c.Text = "", p.text.String()
		}
		return &c
	case *CommandExecution:
		c := *i
		if p.text.Len() > 0 {
			c.text, c.AggregatedOutput = "", new(p.text.String())
		}
		return &c
	case *Reasoning:
		c := *i
		if p.summary != nil || p.content != nil {
			c.text, c.Summary, c.Content = "", joined(p.summary), joined(p.content)
		}
		return &c
	}
	return p.item
}

func joined(parts []*strings.Builder) []string {
	list := make([]string, len(parts))
	for i, p := range parts {
		list[i] = p.String()
	}
	return list
}
