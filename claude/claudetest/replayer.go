package claudetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/ndjson"
)

// Replayer is a [claude.Transport] that plays recordings of a [Recorder] to a program, without
// a CLI. The CLI's lines arrive in the recorded order, each as soon as the program has sent
// all lines that the CLI had received before it: prompts are matched by their order, control
// requests by subtype and order, answers by the request that they answer. The program's ids
// replace the recorded ones. Recorded times are ignored.
//
// A program that sends a line earlier than in the recording gets the answer at the recorded
// position. A program that sends a line later, because it first waits for a message that was
// recorded after it, blocks forever; this does not apply to answers to its control requests.
type Replayer struct {
	// Lenient compares the program's lines only by kind. Control requests that are not in the
	// recording are refused, other additional lines are ignored, and missing lines at the end
	// of the input are skipped. Without Lenient each of these, and a line with different
	// content, is a *[ReplayError].
	Lenient bool
	// Redactor redacts the program's lines before they are compared; nil means NewRedactor().
	Redactor *Redactor

	mu         sync.Mutex
	recordings [][]Entry
	again      bool // every connection plays the first one
	err        error
}

// ReplayError is returned when a program differs from the recording: it sends another line, or
// misses one.
type ReplayError struct {
	What string
	Got  json.RawMessage // the program's line; nil if it is missing
	Want json.RawMessage // the recorded line, if any
}

func (e *ReplayError) Error() string {
	s := "claudetest: replay: " + e.What
	if e.Got != nil {
		s += fmt.Sprintf("\n  got  %.500s", e.Got)
	}
	if e.Want != nil {
		s += fmt.Sprintf("\n  want %.500s", e.Want)
	}
	return s
}

// NewReplayer reads the recordings of a [NewRecorder]. Every connection plays a single
// recording again; of several, each connection plays the next.
func NewReplayer(r io.Reader) (*Replayer, error) {
	recordings, err := readRecordings(r)
	if err != nil {
		return nil, err
	}
	return &Replayer{recordings: recordings, again: len(recordings) == 1}, nil
}

// NewDirReplayer returns a transport that plays the recordings of a [NewDirRecorder]. Each
// connection plays the next one.
func NewDirReplayer(dir string) (*Replayer, error) {
	names, err := fs.Glob(os.DirFS(dir), "*.jsonl") // the directory name is not a pattern
	if err != nil {
		return nil, fmt.Errorf("claudetest: recordings in %s: %w", dir, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("claudetest: no recordings in %s", dir)
	}
	slices.Sort(names)
	all := &Replayer{}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		recordings, err := readRecordings(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all.recordings = append(all.recordings, recordings...)
	}
	return all, nil
}

// maxLine limits a line of a recording, in bytes.
const maxLine = 1 << 30

// readRecordings reads recordings, each of which begins with a start event.
func readRecordings(r io.Reader) (recordings [][]Entry, err error) {
	lines := ndjson.NewReader(r, maxLine)
	for n := 1; ; n++ {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var e Entry
		if err == nil {
			err = json.Unmarshal([]byte(line.Text), &e)
		}
		if err != nil {
			return nil, fmt.Errorf("claudetest: recording, line %d: %w", n, err)
		}
		switch {
		case e.Event == "start" && e.Format != recordingFormat:
			return nil, fmt.Errorf("claudetest: recording, line %d: format %d is not known", n, e.Format)
		case e.Event == "start":
			recordings = append(recordings, nil)
		case len(recordings) == 0:
			return nil, fmt.Errorf("claudetest: recording, line %d: no start precedes it", n)
		default:
			last := len(recordings) - 1
			recordings[last] = append(recordings[last], e)
		}
	}
	if len(recordings) == 0 {
		return nil, errors.New("claudetest: the recording is empty")
	}
	return recordings, nil
}

// Err returns the first *[ReplayError] of all connections, or nil if the program matched the
// recordings.
func (r *Replayer) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *Replayer) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// Connect returns a connection that plays the next recording. It fails when there are no
// further recordings.
func (r *Replayer) Connect(ctx context.Context) (claude.Conn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.recordings) == 0 {
		return nil, errors.New("claudetest: replay: no recording is left")
	}
	if r.Redactor == nil {
		r.Redactor = NewRedactor()
	}
	recording := r.recordings[0]
	if !r.again {
		r.recordings = r.recordings[1:]
	}
	return newReplayConn(ctx, r, recording)
}
