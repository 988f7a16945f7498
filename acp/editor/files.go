package editor

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

const (
	// filesWait limits how long a tool waits for the client's response about a file.
	filesWait = 10 * time.Second
	// maxFile is the maximum size of files that are requested from the client.
	maxFile = 16 << 20
)

// clientFiles synchronizes the files of a session with the client's buffers, so that the agent's
// tools, which use the disk, see unsaved text. It never overwrites unknown text: if both the disk
// and the buffer have changed, or if it cannot determine which is newer, it changes neither, and
// the agent uses the file on the disk.
type clientFiles struct {
	srv   *server
	since time.Time // the agent may have changed files that are newer

	mu      sync.Mutex
	session string              // "" until the session has an id
	agreed  map[string]textHash // the last text that buffer and disk had in common
	inStep  map[string]textHash // the common text at the start of a running tool; absent if they differed
}

// textHash is the hash of a text with normalized line endings.
type textHash [sha256.Size]byte

func hashOf(text string) textHash {
	return sha256.Sum256([]byte(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")))
}

// noText is the hash for a missing file.
var noText textHash

// clientFiles returns the client's buffers, or nil if they are disabled or the client lacks one of
// the two methods.
func (s *server) clientFiles() *clientFiles {
	s.mu.Lock()
	defer s.mu.Unlock()
	can := s.client.Fs.Or(acp.FileSystemCapabilities{})
	if !s.opts.ClientFiles || !can.ReadTextFile.Or(false) || !can.WriteTextFile.Or(false) {
		return nil
	}
	return &clientFiles{srv: s, since: time.Now(), agreed: map[string]textHash{}, inStep: map[string]textHash{}}
}

func (f *clientFiles) bind(session string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.session = session
}

// step is the action to take on a file before a tool uses it.
type step int

const (
	stepNone  step = iota // both texts are equal
	stepSave              // the client's text is newer and must be saved
	stepLeave             // the disk is newer, or it is unknown which is newer
)

// decide compares the text of a buffer with that on the disk. agreed is the last text that both had
// in common, or nil. touched reports that the file on the disk has changed since the session began.
func decide(agreed *textHash, disk, buffer textHash, touched bool) step {
	switch {
	case disk == buffer:
		return stepNone
	case agreed != nil && disk == *agreed: // only the buffer has changed
		return stepSave
	case agreed != nil || touched:
		return stepLeave
	}
	return stepSave // an unchanged buffer has the text of the disk
}

// Before makes the client save unsaved text of a file before a tool uses it.
func (f *clientFiles) Before(ctx context.Context, path string) {
	f.mu.Lock()
	session := f.session
	last, known := f.agreed[path]
	delete(f.inStep, path)
	f.mu.Unlock()
	disk, touched, err := f.disk(path)
	if err != nil || session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, filesWait)
	defer cancel()
	text, ok := f.read(ctx, session, path)
	if !ok {
		if disk == noText {
			f.note(path, noText)
		}
		return
	}
	agreed := &last
	if !known {
		agreed = nil
	}
	buffer := hashOf(text)
	switch decide(agreed, disk, buffer, touched) {
	case stepSave:
		if !f.write(ctx, session, path, text) {
			return
		}
		if disk, _, err = f.disk(path); err != nil || disk != buffer {
			f.srv.opts.Logger.Warn("acp: the client has not saved a file", "path", path)
			return
		}
	case stepLeave:
		f.srv.opts.Logger.Warn("acp: the client's text of a file is not used: the file on the disk has changed too", "path", path)
		return
	}
	f.note(path, buffer)
}

// note records that a file and its buffer have the same text.
func (f *clientFiles) note(path string, text textHash) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.agreed[path], f.inStep[path] = text, text
}

// After sends the text that a tool has written to the client, unless the user has changed the
// buffer since.
func (f *clientFiles) After(ctx context.Context, path string) {
	f.mu.Lock()
	session := f.session
	begun, ok := f.inStep[path]
	delete(f.inStep, path)
	f.mu.Unlock()
	if !ok || session == "" {
		return
	}
	raw, err := regularfile.Read(path, maxFile)
	if err != nil || !utf8.Valid(raw) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, filesWait)
	defer cancel()
	disk := hashOf(string(raw))
	text, ok := f.read(ctx, session, path)
	if buffer := hashOf(text); ok && buffer != begun && buffer != disk {
		f.srv.opts.Logger.Warn("acp: the client's text of a file is kept: it has changed while a tool ran", "path", path)
		return
	}
	if f.write(ctx, session, path, string(raw)) {
		f.mu.Lock()
		f.agreed[path] = disk
		f.mu.Unlock()
	}
}

// disk returns the text on the disk, and whether it was changed since the session began. It returns an error if the
// file is not text or is too large.
func (f *clientFiles) disk(path string) (textHash, bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return noText, false, nil
	}
	if err != nil {
		return noText, false, err
	}
	raw, err := regularfile.Read(path, maxFile)
	if err == nil && !utf8.Valid(raw) {
		err = errors.New("not a text")
	}
	return hashOf(string(raw)), !info.ModTime().Before(f.since), err
}

// read requests the client's text of a file. It returns false if the client does not have the file
// or does not answer.
func (f *clientFiles) read(ctx context.Context, session, path string) (string, bool) {
	raw, err := f.srv.conn.Call(ctx, acp.MethodFsReadTextFile, &acp.ReadTextFileRequest{SessionID: acp.SessionID(session), Path: path})
	var r acp.ReadTextFileResponse
	if err == nil {
		err = r.UnmarshalJSON(raw)
	}
	if err != nil {
		f.srv.opts.Logger.Debug("acp: the client did not return the text of a file", "path", path, "err", err)
		return "", false
	}
	return r.Content, true
}

// write requests the client to write a file. It returns false if the client does not.
func (f *clientFiles) write(ctx context.Context, session, path, text string) bool {
	_, err := f.srv.conn.Call(ctx, acp.MethodFsWriteTextFile, &acp.WriteTextFileRequest{SessionID: acp.SessionID(session), Path: path, Content: text})
	if err != nil {
		f.srv.opts.Logger.Warn("acp: the client did not write a file", "path", path, "err", err)
	}
	return err == nil
}
