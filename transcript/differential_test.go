package transcript_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/transcript"
)

// damaged returns the number of sessions that TestDamagedAsOfficial derives from the corpus.
func damaged() int {
	return short.Count(25, 100, 1500)
}

// TestDamagedAsOfficial damages the sessions of the corpus in every way that a crash, a merge or
// another program can: the official SDK and this package must still return the same answers.
func TestDamagedAsOfficial(t *testing.T) {
	t.Parallel()
	o := startOfficial(t)
	dir := transcript.Open(o.config)
	sources := mainFiles(t)
	project := filepath.Join(o.config, "projects", "-home-dev-project")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 11))
	for i := range damaged() {
		source := sources[rng.IntN(len(sources))]
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		d := &damage{rng: rng, lines: bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))}
		for range rng.IntN(6) {
			d.once()
		}
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
		path := filepath.Join(project, id+".jsonl")
		if err := os.WriteFile(path, d.bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("%s with %s", filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(source)))), strings.Join(d.done, ", "))
		compareSession(t, o, dir, id, what)
		if t.Failed() {
			break
		}
	}
	compareLists(t, o, dir)
}

func mainFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpusDir(), "*", "projects", "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal("no session files", err)
	}
	return files
}

// compareSession compares our answers about one session with the official ones.
func compareSession(t *testing.T, o *officialSDK, dir *transcript.Dir, id, what string) {
	t.Helper()
	for _, system := range []bool{false, true} {
		var want []map[string]any
		o.must(&want, "getSessionMessages", id, map[string]any{"includeSystemMessages": system})
		s, err := dir.Session(id)
		if err != nil {
			if len(want) > 0 {
				t.Errorf("%s: %v; want len(want) <= 0", what, err)
			}
			return
		}
		got, err := s.Conversation(t.Context(), &transcript.ConversationOptions{System: system})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = []map[string]any{}
		}
		compareMessages(t, what, want, got)
	}
	var want map[string]any
	o.must(&want, "getSessionInfo", id)
	var got map[string]any
	s, _ := dir.Session(id)
	info, err := s.Info(t.Context())
	switch {
	case err == nil:
		got = infoAnswer(t, info)
	case !errors.Is(err, transcript.ErrNoSession):
		t.Fatal(err)
	}
	delete(want, "fileSize")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: info differs (-official +ours):\n%s", what, diff)
	}
}

func compareLists(t *testing.T, o *officialSDK, dir *transcript.Dir) {
	t.Helper()
	var want []map[string]any
	o.must(&want, "listSessions")
	var got []map[string]any
	for info, err := range dir.Sessions(t.Context(), transcript.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, infoAnswer(t, info))
	}
	for _, w := range want {
		delete(w, "fileSize")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the lists differ (-official +ours):\n%s", diff)
	}
}

// damage changes the lines of a session.
type damage struct {
	rng   *rand.Rand
	lines [][]byte
	torn  bool
	done  []string
}

func (d *damage) bytes() []byte {
	text := append(bytes.Join(d.lines, []byte("\n")), '\n')
	if d.torn && len(text) > 2 {
		text = text[:len(text)-1-d.rng.IntN(min(400, len(text)-1))]
	}
	return text
}

// once applies one kind of damage.
func (d *damage) once() {
	kinds := []struct {
		name string
		do   func()
	}{
		{"a torn tail", func() { d.torn = true }},
		{"a line lost", func() { i := d.any(); d.lines = slices.Delete(d.lines, i, i+1) }},
		{"a line cut", func() { i := d.any(); d.lines[i] = d.lines[i][:len(d.lines[i])/2] }},
		{"a line doubled", func() { i := d.any(); d.lines = append(d.lines, d.lines[i]) }},
		{"a line moved", d.move},
		{"another parent", func() { d.change("parentUuid", func(any) any { return d.someUUID() }) }},
		{"no parent", func() { d.change("parentUuid", func(any) any { return nil }) }},
		{"a sidechain", func() { d.change("isSidechain", func(any) any { return true }) }},
		{"a meta line", func() { d.change("isMeta", func(any) any { return true }) }},
		{"a team's line", func() { d.change("teamName", func(any) any { return "team" }) }},
		{"a title", func() { d.add(map[string]any{"type": "custom-title", "customTitle": "title " + d.word()}) }},
		{"a title of the model", func() { d.add(map[string]any{"aiTitle": "model " + d.word(), "type": "ai-title"}) }},
		{"a tag", func() { d.add(map[string]any{"type": "tag", "tag": d.word()}) }},
		{"a summary", func() { d.add(map[string]any{"type": "summary", "summary": d.word(), "leafUuid": d.someUUID()}) }},
		{"an unknown line", func() { d.add(map[string]any{"type": "newer", "uuid": d.newUUID(), "x": 1}) }},
		{"a queued prompt", d.queue},
		{"a voice", d.voice},
		{"a compaction", d.compact},
		{"no JSON", func() { d.insert([]byte("\x00\x00 {not json")) }},
		{"an array", func() { d.insert([]byte(`["user"]`)) }},
		{"much output", func() { d.add(map[string]any{"type": "api-request-blob", "message": strings.Repeat("x", 70_000)}) }},
		{"another time", func() { d.change("timestamp", func(any) any { return "2026-11-15T01:00:00.000Z" }) }},
	}
	kind := kinds[d.rng.IntN(len(kinds))]
	if len(d.lines) < 3 {
		return
	}
	d.done = append(d.done, kind.name)
	kind.do()
}

func (d *damage) any() int { return d.rng.IntN(len(d.lines)) }

func (d *damage) word() string {
	return []string{"plain", "with \"quotes\"", "日本語 text", "tab\tand\nline", "é combined é"}[d.rng.IntN(5)]
}

func (d *damage) newUUID() string {
	return fmt.Sprintf("11111111-0000-4000-8000-%012d", d.rng.IntN(1e9))
}

func (d *damage) insert(line []byte) { d.lines = slices.Insert(d.lines, d.any(), line) }

func (d *damage) add(record map[string]any) {
	line, _ := json.Marshal(record)
	d.insert(line)
}

func (d *damage) move() {
	i := d.any()
	line := d.lines[i]
	d.lines = slices.Insert(slices.Delete(d.lines, i, i+1), d.rng.IntN(len(d.lines)-1), line)
}

// tree returns the indexes of the lines of the tree.
func (d *damage) tree() (at []int) {
	for i, line := range d.lines {
		if bytes.HasPrefix(line, []byte(`{"parentUuid"`)) && json.Valid(line) {
			at = append(at, i)
		}
	}
	return at
}

func (d *damage) change(name string, to func(any) any) {
	at := d.tree()
	if len(at) == 0 {
		return
	}
	i := at[d.rng.IntN(len(at))]
	var record map[string]any
	_ = json.Unmarshal(d.lines[i], &record) // tree checked it
	record[name] = to(record[name])
	d.lines[i], _ = json.Marshal(record)
}

func (d *damage) someUUID() string {
	at := d.tree()
	if len(at) == 0 {
		return d.newUUID()
	}
	var record struct{ UUID string }
	_ = json.Unmarshal(d.lines[at[d.rng.IntN(len(at))]], &record) // tree checked it
	return record.UUID
}

func (d *damage) queue() {
	attachment := map[string]any{"type": "queued_command", "prompt": "queued " + d.word()}
	switch d.rng.IntN(4) {
	case 0:
		attachment["source_uuid"] = d.newUUID()
	case 1:
		attachment["prompt"] = []any{map[string]any{"type": "text", "text": d.word()}}
	case 2:
		attachment["commandMode"] = "task-notification"
	}
	if d.rng.IntN(3) == 0 {
		attachment["delivery_id"] = "delivery"
	}
	parent, uuid := d.someUUID(), d.newUUID()
	for _, i := range d.tree() { // into the chain, not as a side branch
		var record map[string]any
		_ = json.Unmarshal(d.lines[i], &record) // tree checked it
		if record["parentUuid"] == parent {
			record["parentUuid"] = uuid
			d.lines[i], _ = json.Marshal(record)
		}
	}
	d.add(map[string]any{
		"parentUuid": parent, "isSidechain": false, "type": "attachment", "attachment": attachment,
		"uuid": uuid, "timestamp": time.UnixMilli(1794707368156).UTC().Format("2006-01-02T15:04:05.000Z"), "sessionId": "s",
	})
	if d.rng.IntN(2) == 0 {
		d.add(map[string]any{
			"type": "queue-operation", "operation": "remove", "reason": "absorbed_mid_turn",
			"commandUuid": attachment["source_uuid"], "deliveryId": attachment["delivery_id"],
		})
	}
}

func (d *damage) voice() {
	record := map[string]any{
		"parentUuid": d.someUUID(), "type": "system", "subtype": "voice_call_talk", "level": "info", "content": "said " + d.word(),
		"origin": map[string]any{"kind": "voice-call"}, "isMeta": d.rng.IntN(2) == 0, "uuid": d.newUUID(), "sessionId": "s", "timestamp": "2026-11-15T01:00:00.000Z",
	}
	if d.rng.IntN(2) == 0 {
		record["blocks"] = []any{map[string]any{"type": "text", "text": d.word()}}
	}
	if d.rng.IntN(2) == 0 {
		record["fold"] = map[string]any{"command": map[string]any{"commandMode": "prompt"}, "extra": 1}
	}
	d.add(record)
}

func (d *damage) compact() {
	boundary, summary := d.newUUID(), d.newUUID()
	metadata := map[string]any{"trigger": "manual"}
	switch d.rng.IntN(3) {
	case 0:
		metadata["preservedMessages"] = map[string]any{"anchorUuid": summary, "uuids": []string{d.someUUID(), d.someUUID()}}
	case 1:
		metadata["preservedSegment"] = map[string]any{"anchorUuid": summary, "headUuid": d.someUUID(), "tailUuid": d.someUUID()}
	}
	at := d.any()
	for _, record := range []map[string]any{
		{"parentUuid": nil, "type": "system", "subtype": "compact_boundary", "uuid": boundary, "content": "Compacted", "compactMetadata": metadata, "sessionId": "s", "timestamp": "2026-11-15T01:00:00.000Z"},
		{"parentUuid": boundary, "type": "user", "uuid": summary, "isCompactSummary": true, "message": map[string]any{"role": "user", "content": "summary"}, "sessionId": "s", "timestamp": "2026-11-15T01:00:00.001Z"},
	} {
		line, _ := json.Marshal(record)
		d.lines = slices.Insert(d.lines, at, line)
		at++
	}
	if d.rng.IntN(2) == 0 {
		d.change("parentUuid", func(any) any { return summary })
	}
}
