package transcript

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/internal/random"
)

// ForkOptions configures [Dir.Fork]. A nil pointer is the zero value.
type ForkOptions struct {
	// Dir is the directory of the session, as in [Filter]. "" searches all projects.
	Dir string
	// UpTo, if set, is the uuid of the last message of the fork. With the boundary of a compaction
	// the fork has the messages before it.
	UpTo string
	// Title is the fork's title. "" uses the session's title followed by (fork).
	Title string
}

// Fork copies a session, or its beginning, into a new one in the same directory, as the official
// SDK does: every entry gets a new uuid and names its original; sidechains, subagents and file
// history are not copied. The session is only read and may be live.
func (d *Dir) Fork(ctx context.Context, id string, opts *ForkOptions) (*Session, error) {
	if opts == nil {
		opts = &ForkOptions{}
	}
	s, err := d.find(ctx, id, &ChangeOptions{Dir: opts.Dir, Live: true})
	if err != nil {
		return nil, err
	}
	f := &forker{work: newWork(ctx), from: s, id: random.UUID(), now: timestamp(time.Now()), uuids: map[string]string{}}
	entries, err := goodEntries(f.work, s.Path)
	if err != nil {
		return nil, err
	}
	if err := f.collect(entries, opts.UpTo); err != nil {
		return nil, err
	}
	lines := f.lines()
	if f.work.ended() {
		return nil, f.work.err
	}
	title := strings.TrimSpace(opts.Title)
	if title == "" {
		if title, err = s.forkTitle(); err != nil {
			return nil, err
		}
	}
	lines = append(lines, f.record("custom-title", "customTitle", quote(title), "uuid", quote(random.UUID()), "timestamp", quote(f.now)))
	path := filepath.Join(filepath.Dir(s.Path), f.id+".jsonl")
	if err := replace(d.files, path, []byte(strings.Join(lines, "\n")+"\n")); err != nil {
		return nil, err
	}
	return d.sessionAt(path), nil
}

// forkTitle returns the default title of a fork of the session.
func (s *Session) forkTitle() (string, error) {
	f, err := openRegular(s.Path)
	if err != nil {
		return "", fmt.Errorf("transcript: %w", err)
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("transcript: %w", err)
	}
	e := endsPool.Get().(*ends)
	defer endsPool.Put(e)
	if err := e.read(f, stat.Size()); err != nil {
		return "", fmt.Errorf("transcript: %w", err)
	}
	title := firstOf(e.title(s.sideDir()), e.head.firstPrompt, func() string { return "Forked session" })
	return title + " (fork)", nil
}

// forker copies the entries of a session into a new one.
type forker struct {
	work  *work
	from  *Session
	id    string
	now   string
	tree  []Entry           // entries to copy
	side  sideRecords       // records outside the tree
	uuids map[string]string // new uuids by old ones
}

// collect selects the entries to copy.
func (f *forker) collect(entries []Entry, upTo string) error {
	for _, e := range entries {
		if f.work.over() {
			return f.work.err
		}
		l := LinkOf(e)
		switch {
		case l == nil || l.UUID == "":
			f.side.add(e, f.from.ID)
		case l.IsSidechain:
			f.side.forked(l)
		default:
			f.side.forked(l)
			f.tree = append(f.tree, e)
		}
	}
	if upTo != "" && len(f.tree) > 0 {
		cut, err := cutAt(f.work, f.tree, upTo)
		if f.work.ended() {
			return f.work.err
		}
		if err != nil {
			return fmt.Errorf("%w in session %s", err, f.from.ID)
		}
		f.tree = cut
	}
	copied := 0
	for _, e := range f.tree {
		f.uuids[LinkOf(e).UUID] = random.UUID()
		if e.Kind() != "progress" {
			copied++
		}
	}
	if copied == 0 {
		return fmt.Errorf("transcript: session %s has no messages to fork", f.from.ID)
	}
	return nil
}

// lines returns the lines of the fork, without its title.
func (f *forker) lines() []string {
	byID := map[string]Entry{}
	last := 0
	for i, e := range f.tree {
		byID[LinkOf(e).UUID] = e
		if e.Kind() != "progress" {
			last = i
		}
	}
	var lines []string
	if f.side.suppressed {
		lines = append(lines, f.record("history-suppression", "cause", `"fork_inherit"`, "ts", quote(f.now)))
	}
	parents := map[string]string{}
	for i, e := range f.tree {
		if f.work.over() {
			return nil
		}
		if e.Kind() != "progress" {
			lines = append(lines, f.copy(e, f.parent(LinkOf(e).ParentUUID, byID, parents), i == last))
		}
	}
	return append(lines, f.sideLines()...)
}

// parent returns the JSON of the new parent's uuid for an old one. Progress reports are not copied;
// their children move to the parent of the report. Results are cached in parents, because paths
// share their upper part.
func (f *forker) parent(uuid string, byID map[string]Entry, parents map[string]string) string {
	var way []string
	found := "null"
	for id := uuid; id != "" && !f.work.over(); {
		if known, ok := parents[id]; ok {
			found = known
			break
		}
		p := byID[id]
		if p == nil {
			break
		}
		if p.Kind() != "progress" {
			found = quote(f.uuids[id])
			break
		}
		parents[id] = "null" // a cycle has no root
		way = append(way, id)
		id = LinkOf(p).ParentUUID
	}
	for _, id := range way {
		parents[id] = found
	}
	return found
}

// copy returns the line of the fork for an entry.
func (f *forker) copy(e Entry, parent string, last bool) string {
	l := LinkOf(e)
	o := parseObject(l.text)
	switch e := e.(type) {
	case *SystemEntry:
		if e.Subtype == "model_refusal_fallback" {
			o.set("neutralizedByFork", "true")
		}
		if o.has("compactMetadata") {
			o.set("compactMetadata", f.compactMetadata(o.values["compactMetadata"]))
		}
	case *AttachmentEntry:
		if e.Attachment != "" {
			o.set("attachment", f.attachment(e))
		}
	}
	o.setString("uuid", f.uuids[l.UUID])
	o.set("parentUuid", parent)
	if l.LogicalParentUUID != "" {
		o.set("logicalParentUuid", f.mapped(l.LogicalParentUUID, "null"))
	}
	o.setString("sessionId", f.id)
	if last {
		o.setString("timestamp", f.now)
	}
	o.set("isSidechain", "false")
	o.remove("teamName", "agentName", "sessionKind", "slug", "sourceToolAssistantUUID",
		"summarizedTurnPromptUuids", "droppedPromptUuids", "turnAttributionKey")
	from := parseObject("{}")
	from.setString("sessionId", f.from.ID)
	from.setString("messageUuid", l.UUID)
	o.set("forkedFrom", from.text())
	return o.text()
}

// mapped returns the JSON of the new uuid for an old one, or other if the uuid is unknown.
func (f *forker) mapped(uuid, other string) string {
	if id, ok := f.uuids[uuid]; ok {
		return quote(id)
	}
	return other
}

// mappedText replaces the uuids in a JSON string or an array of strings.
func (f *forker) mappedText(text string) string {
	if list := elements(text); list != nil {
		for i, e := range list {
			list[i] = f.mapped(stringOf(e), e)
		}
		return array(list)
	}
	return f.mapped(stringOf(text), text)
}

// compactMetadata returns the metadata of a compaction with new uuids.
func (f *forker) compactMetadata(text string) string {
	o := parseObject(text)
	for part, members := range map[string][]string{
		"preservedMessages": {"anchorUuid", "uuids", "allUuids"},
		"preservedSegment":  {"headUuid", "anchorUuid", "tailUuid"},
	} {
		if !strings.HasPrefix(o.values[part], "{") {
			continue
		}
		p := parseObject(o.values[part])
		for _, name := range members {
			if p.has(name) {
				p.set(name, f.mappedText(p.values[name]))
			}
		}
		o.set(part, p.text())
	}
	o.remove("runningTurnSends")
	return o.text()
}

// attachment returns an attachment with new uuids.
func (f *forker) attachment(e *AttachmentEntry) string {
	switch e.AttachmentType() {
	case "deferred_tools_record":
		o := parseObject(string(e.Attachment))
		names := elements(o.values["nameOnlyAnnouncements"])
		if names == nil {
			break
		}
		kept := []string{}
		for _, name := range names {
			if id, ok := f.uuids[stringOf(name)]; ok {
				kept = append(kept, quote(id))
			}
		}
		o.set("nameOnlyAnnouncements", array(kept))
		return o.text()
	case "queued_command":
		o := parseObject(string(e.Attachment))
		if id, ok := f.uuids[stringOf(o.values["source_uuid"])]; ok {
			o.setString("source_uuid", id)
			return o.text()
		}
	}
	return string(e.Attachment)
}
