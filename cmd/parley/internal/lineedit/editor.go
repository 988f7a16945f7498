package lineedit

import "strings"

// Event is the effect of a key.
type Event int

// The events that the owner of an editor handles.
const (
	Changed   Event = iota // the line may have changed
	Submitted              // a line is complete: see Editor.Take
	Cancelled              // Ctrl-C
	Ended                  // Ctrl-D in an empty line
	Refresh                // Ctrl-L
	Listed                 // there are several completions: see Editor.Candidates
)

// Editor edits one or more lines. It is not safe for concurrent use.
type Editor struct {
	Buffer
	History *History
	// Complete returns the possible completions of the last word of text, which is
	// everything before the cursor.
	Complete func(text string) []string

	candidates []string
}

// Handle executes a key.
func (e *Editor) Handle(k Key) Event {
	switch k.Code {
	case Enter:
		if text := e.String(); strings.HasSuffix(text, `\`) && e.pos == len(e.text) {
			e.cut(len(e.text)-1, len(e.text))
			e.Insert("\n")
			return Changed
		}
		return Submitted
	case Interrupt:
		return Cancelled
	case CtrlD:
		if len(e.text) == 0 {
			return Ended
		}
		e.Edit(Key{Code: Delete})
	case Redraw:
		return Refresh
	case Tab:
		return e.complete()
	case Up, Down:
		if !e.Edit(k) {
			by := 1
			if k.Code == Up {
				by = -1
			}
			if line, ok := e.History.Move(by, e.String()); ok {
				e.Set(line)
			}
		}
	default:
		e.Edit(k)
	}
	return Changed
}

// Take returns the line and begins a new one.
func (e *Editor) Take() string {
	line := e.String()
	e.Set("")
	return line
}

// Candidates returns the completions that the last Tab found.
func (e *Editor) Candidates() []string { return e.candidates }

// complete inserts the common prefix of all completions.
func (e *Editor) complete() Event {
	if e.Complete == nil {
		return Changed
	}
	before := string(e.text[:e.pos])
	word := before[strings.LastIndexAny(before, " \n")+1:]
	e.candidates = e.Complete(before)
	if len(e.candidates) == 0 {
		return Changed
	}
	common := e.candidates[0]
	for _, c := range e.candidates[1:] {
		for !strings.HasPrefix(c, common) {
			common = common[:len(common)-1]
		}
	}
	if more, ok := strings.CutPrefix(common, word); ok && more != "" {
		e.Insert(more)
	}
	if len(e.candidates) == 1 {
		e.Insert(" ")
		return Changed
	}
	return Listed
}
