package transcript

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// Fault is a kind of damage to a session. The values are stable, for programs that compare or store
// them.
type Fault string

// The faults that [Session.Examine] finds. [Session.Repair] can repair most of them.
const (
	TornTail         Fault = "torn-tail"          // the file ends in the middle of a line, or without a line feed
	BadLine          Fault = "bad-line"           // a line that is not a JSON object
	MissingParent    Fault = "missing-parent"     // the parent of an entry is missing
	ParentCycle      Fault = "parent-cycle"       // parents form a cycle
	DuplicateUUID    Fault = "duplicate-uuid"     // two entries have one uuid
	OrphanToolUse    Fault = "orphan-tool-use"    // a tool call without a result
	OrphanToolResult Fault = "orphan-tool-result" // a tool result without a call
	EmptiedThinking  Fault = "emptied-thinking"   // a signature without its thinking
	OversizedLine    Fault = "oversized-line"     // a line longer than [ExamineOptions].MaxLine
)

// Severity is the effect of a finding on the session: whether it can still be shown and resumed.
type Severity string

// The severities, worst first.
const (
	// BreaksResume: the API rejects the resumed session, or it continues without its earlier
	// messages.
	BreaksResume Severity = "breaks-resume"
	// BreaksDisplay: the session can be resumed, but a message is not shown, or a program that
	// reads it fails.
	BreaksDisplay Severity = "breaks-display"
	// Harmless: the finding affects neither the display nor a resumed session.
	Harmless Severity = "harmless"
)

// DefaultMaxLine is the length in bytes from which a line is oversized. It exceeds a line with the
// largest picture that the API accepts, which the CLI writes twice.
const DefaultMaxLine = 16 << 20

// ExamineOptions configures [Session.Examine]. The zero value uses [DefaultMaxLine].
type ExamineOptions struct {
	// MaxLine is the length in bytes from which a line is oversized; 0 is
	// [DefaultMaxLine].
	MaxLine int
}

// Finding is one fault of a session: its location, its severity, and a text for people.
type Finding struct {
	Fault    Fault    `json:"fault"`
	Severity Severity `json:"severity"`
	Path     string   `json:"path"` // of the session, or of one of its subagents
	Line     int      `json:"line"` // counted from 1
	Offset   int64    `json:"offset"`
	UUID     string   `json:"uuid,omitempty"` // of the entry, if the line is one
	Detail   string   `json:"detail"`         // for people

	toolUse string // tool use id of an orphan
}

// String returns the finding as one line for people: the path and the line, the fault, its
// severity, and details.
func (f *Finding) String() string {
	return fmt.Sprintf("%s:%d: %s (%s): %s", f.Path, f.Line, f.Fault, f.Severity, f.Detail)
}

// Examine searches a session and its subagents for damage. It only reads; [Session.Repair] makes a
// copy without the damage. Findings are in the order of the lines, those of subagents after those
// of the session; an intact session has no findings. nil is the zero options. The files are read
// into memory, one at a time. In a session that is being written to, a running tool counts as a
// tool without a result.
func (s *Session) Examine(ctx context.Context, opts *ExamineOptions) ([]*Finding, error) {
	w := newWork(ctx)
	x, err := examineFile(s.Path, newExamination(w, opts))
	if err != nil {
		return nil, err
	}
	findings := x.findings
	agents, err := s.subagents(w)
	if err != nil {
		return nil, err
	}
	for _, a := range agents {
		of, err := examineFile(a.Path, agentOptions(opts, x))
		if err != nil {
			return nil, err
		}
		findings = append(findings, of.findings...)
	}
	return findings, nil
}

// fileLine is a line of a session: an entry, or a bad line.
type fileLine struct {
	entry Entry // nil for a bad line
	bad   *LineError
	torn  bool   // no line feed ends it
	text  string // of a bad line
	pos   Position
}

// readLines reads all lines of a session file, good and bad.
func readLines(w *work, path string) ([]*fileLine, error) {
	f, err := regularfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	defer f.Close()
	var all []*fileLine
	for r := newLineReader(contextReader{w.ctx, f}, 0); ; {
		if w.over() {
			return nil, w.err
		}
		l, err := r.next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("transcript: %w", err)
		}
		line := &fileLine{torn: l.torn, pos: l.pos}
		text := string(l.text)
		if line.entry, err = parseEntry(text, l.pos); err != nil {
			line.entry, line.bad, line.text = nil, lineError(path, l, err), text
		}
		all = append(all, line)
	}
}

// examination is the state of the examination of one file.
type examination struct {
	work     *work
	path     string
	maxLine  int
	agent    bool             // the file belongs to a subagent
	outside  map[string]*node // entries of the session, which may be parents of an agent's entries
	lines    []*fileLine
	graph    *graph
	chain    []*node // the conversation that a resumed session continues
	onChain  map[*node]bool
	offChain int      // the index of the first message that is not on the chain
	repeated Severity // severity of a repeated entry, "" until computed
	findings []*Finding
}

// agentOptions returns the examination for a subagent of an examined session: a subagent that was
// forked from the conversation follows an entry of it.
func agentOptions(opts *ExamineOptions, main *examination) *examination {
	x := newExamination(main.work, opts)
	x.agent, x.outside = true, main.graph.byID
	return x
}

func newExamination(w *work, opts *ExamineOptions) *examination {
	x := &examination{work: w, maxLine: DefaultMaxLine}
	if opts != nil && opts.MaxLine > 0 {
		x.maxLine = opts.MaxLine
	}
	return x
}

// examineFile examines a file with the options in x.
func examineFile(path string, x *examination) (*examination, error) {
	lines, err := readLines(x.work, path)
	if err != nil {
		return nil, err
	}
	return x, x.examine(path, lines)
}

// examine examines the lines of a file. The only error is that of the context.
func (x *examination) examine(path string, lines []*fileLine) error {
	x.path, x.lines = path, lines
	var entries []Entry
	for _, l := range lines {
		if l.entry != nil {
			entries = append(entries, l.entry)
		}
	}
	x.graph = newGraph(x.work, entries)
	x.chain = x.graph.conversation()
	x.lookAtChain()
	for _, look := range []func(){x.badLines, x.duplicates, x.missingParents, x.cycles, x.toolUses, x.toolResults, x.thinking} {
		if x.work.ended() {
			return x.work.err
		}
		look()
	}
	slices.SortStableFunc(x.findings, func(a, b *Finding) int { return a.Line - b.Line })
	if x.work.ended() {
		return x.work.err
	}
	return nil
}

// lookAtChain records the entries of the conversation and the first message that is not part of it.
func (x *examination) lookAtChain() {
	x.onChain = make(map[*node]bool, len(x.chain))
	for _, n := range x.chain {
		x.onChain[n] = true
	}
	x.offChain = math.MaxInt
	for _, n := range x.graph.nodes {
		if n.isTalk() && !x.onChain[n] {
			x.offChain = min(x.offChain, n.index)
		}
	}
}

func (x *examination) report(fault Fault, severity Severity, pos Position, uuid, format string, args ...any) *Finding {
	f := &Finding{
		Fault: fault, Severity: severity, Path: x.path, Line: pos.Line, Offset: pos.Offset, UUID: uuid,
		Detail: fmt.Sprintf(format, args...),
	}
	x.findings = append(x.findings, f)
	return f
}

// severityOf returns the severity of damage to an entry: on the conversation it breaks resuming,
// elsewhere it is harmless.
func (x *examination) severityOf(n *node) Severity {
	if x.onChain[n] {
		return BreaksResume
	}
	return Harmless
}
