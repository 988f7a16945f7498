package rollout

import (
	"github.com/seed7221b0f9/parley/internal/regularfile"

	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/codex/item"
)

const (
	headBytes    = 512 << 10 // bytes of a file that are searched for its first prompt
	tailBytes    = 32 << 10  // and for its last token count
	previewRunes = 200
)

var errNotRollout = errors.New("the first line is not a session_meta")

// newSession describes a thread by its files, oldest first.
func newSession(ctx context.Context, files []file) (*Session, error) {
	last := files[len(files)-1]
	s := &Session{ThreadID: last.thread, Path: last.path, Archived: last.archived}
	for _, f := range files {
		s.Files = append(s.Files, f.path)
		s.Size += f.size
		if f.modified.After(s.ModifiedAt) {
			s.ModifiedAt = f.modified
		}
	}
	// The first file has the start, the last one the current state.
	if err := s.readHead(ctx, files[0].path); err != nil {
		return nil, &FileError{files[0].path, err}
	}
	s.readTail(last)
	return s, nil
}

// readHead reads the first line, and the following ones up to the first prompt.
func (s *Session) readHead(ctx context.Context, path string) error {
	f, err := openRollout(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	// The first line is long and must be read completely; the rest is limited.
	h := &headReader{Reader: f, left: headBytes}
	met := false
	err = scan(h, func(head []byte) bool { return !met || s.wantsHead(head) }, func(line []byte) bool {
		if !met {
			m := metaOf(string(line))
			if met = m != nil; met {
				s.setMeta(m)
				h.begun = true
			}
			return met
		}
		s.headLine(string(line))
		return s.Preview == "" || s.Model == ""
	})
	switch {
	case !met && err != nil:
		return err
	case !met:
		return errNotRollout
	}
	return nil // a full read reports errors after the first line
}

// headReader reads a file in small pieces, up to a limit after the first line.
type headReader struct {
	io.Reader
	begun bool
	left  int
}

// headPiece is the size of a read in bytes: a rollout begins with about 30 kB of instructions.
const headPiece = 64 << 10

func (h *headReader) Read(p []byte) (int, error) {
	if h.begun && h.left <= 0 {
		return 0, io.EOF
	}
	n, err := h.Reader.Read(p[:min(len(p), headPiece)])
	if h.begun {
		h.left -= n
	}
	return n, err
}

// wantsHead reports whether a line, by its beginning, can have the first prompt or the model.
func (s *Session) wantsHead(head []byte) bool {
	typ, payload, ok := kindOf(head)
	if !ok {
		return true
	}
	switch string(typ) {
	case "turn_context":
		return s.Model == ""
	case "event_msg":
		return s.Preview == "" && (string(payload) == "user_message" || string(payload) == "item_completed")
	}
	return false
}

// metaOf decodes a session_meta; it returns nil for any other line.
func metaOf(line string) *meta {
	var r record
	if item.DecodeValue(item.JSON(line), &r) != nil || r.Type != "session_meta" {
		return nil
	}
	m := &meta{}
	if item.DecodeValue(r.Payload, m) != nil || m.ID == "" {
		return nil
	}
	return m
}

func (s *Session) setMeta(m *meta) {
	s.CWD, s.Originator, s.CLIVersion = strings.Clone(m.CWD), strings.Clone(m.Originator), strings.Clone(m.CLIVersion)
	s.ModelProvider, s.HistoryMode = strings.Clone(m.ModelProvider), strings.Clone(m.HistoryMode)
	s.ForkedFromID, s.ParentThreadID, s.AgentNickname = strings.Clone(m.ForkedFromID), strings.Clone(m.ParentThreadID), strings.Clone(m.AgentNickname)
	s.GitBranch = strings.Clone(m.Git.Branch)
	if m.HistoryBase != nil {
		s.base = strings.Clone(m.HistoryBase.ThreadID)
	}
	s.HistoryMode = cmp.Or(s.HistoryMode, "legacy")
	s.CreatedAt, _ = time.Parse(time.RFC3339Nano, m.Timestamp)
}

// headLine extracts the first prompt and the model.
func (s *Session) headLine(line string) {
	var r record
	if item.DecodeValue(item.JSON(line), &r) != nil {
		return
	}
	switch r.Type {
	case "turn_context":
		if s.Model == "" {
			s.Model = contextModel(r.Payload)
		}
	case "event_msg":
		var e event
		if s.Preview != "" || item.DecodeValue(r.Payload, &e) != nil {
			return
		}
		switch e.Type {
		case "user_message":
			s.Preview = preview(e.Message)
		case "item_completed":
			if u, ok := convertItem(&e).(*item.UserMessage); ok {
				s.Preview = preview(inputText(u.Content))
			}
		}
	}
}

func contextModel(payload item.JSON) string {
	var c struct {
		Model string `json:"model"`
	}
	_ = item.DecodeValue(payload, &c)
	return strings.Clone(c.Model)
}

func inputText(content []item.Input) string {
	for _, in := range content {
		if t, ok := in.(*item.Text); ok {
			return t.Text
		}
	}
	return ""
}

// preview returns the beginning of a text on one line.
func preview(s string) string {
	s = strings.Join(strings.Fields(s[:min(len(s), 8*previewRunes)]), " ")
	n := 0
	for i := range s {
		if n++; n > previewRunes {
			return strings.ToValidUTF8(s[:i], "") + "…"
		}
	}
	return strings.ToValidUTF8(s, "")
}

var tails = sync.Pool{New: func() any { b := make([]byte, tailBytes); return &b }}

// readTail searches the end of the file for the last token count.
func (s *Session) readTail(f file) {
	if strings.HasSuffix(f.path, zstdSuffix) {
		return
	}
	fd, err := regularfile.OpenNoFollow(f.path)
	if err != nil {
		return
	}
	defer fd.Close()
	keep := tails.Get().(*[]byte)
	defer tails.Put(keep)
	buf := (*keep)[:min(f.size, tailBytes)]
	n, err := fd.ReadAt(buf, f.size-int64(len(buf)))
	if err != nil && !errors.Is(err, io.EOF) {
		return
	}
	for rest := buf[:n]; ; {
		i := bytes.LastIndex(rest, []byte(`"token_count"`))
		if i < 0 {
			return
		}
		start := bytes.LastIndexByte(rest[:i], '\n') + 1
		end := n
		if next := bytes.IndexByte(buf[i:n], '\n'); next >= 0 {
			end = i + next
		}
		var r record
		var e event
		if item.DecodeValue(item.JSON(buf[start:end]), &r) == nil && item.DecodeValue(r.Payload, &e) == nil && e.usage() != nil {
			s.Usage = e.usage()
			return
		}
		rest = rest[:start]
	}
}
