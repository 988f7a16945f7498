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

// Replayer is a [claude.Transport] that plays recordings of a [Recorder] to a
// program, without a CLI. What the CLI wrote comes in the recorded order, each
// line as soon as everything has been sent that the CLI had been sent before it:
// prompts are matched by their order, control requests by subtype and order,
// answers by the request that they answer. The ids that the program chose take
// the place of the recorded ones. Time plays no part.
//
// A program that sends something earlier than the recorded one did gets the
// answer when its turn comes. One that sends it later, because it first waits for a message
// that was recorded after it, waits for ever; answers to its control requests it need not wait
// for.
type Replayer struct {
	// Lenient takes what the program sends by its kind alone. A control request
	// that is not in the recording is refused, other lines are ignored, and what
	// the program has not sent by the end of its input is passed over. Otherwise
	// each of these, and a line with another content, is a *[ReplayError].
	Lenient bool
	// Redactor redacts what the program sends before it is compared; nil is
	// NewRedactor().
	Redactor *Redactor

	mu         sync.Mutex
	recordings [][]Entry
	again      bool // every connection plays the first one
	err        error
}

// ReplayError is returned when a program does not do what the recorded one did: it sends
// something else, or nothing.
type ReplayError struct {
	What string
	Got  json.RawMessage // what the program sent; nil if it did not
	Want json.RawMessage // what the recorded one sent; nil if nothing
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

// NewReplayer reads the recordings of a [NewRecorder]. Where there is one, every
// connection plays it; where there are several, each connection plays the next.
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
	names, err := fs.Glob(os.DirFS(dir), "*.jsonl") // the directory's own name is not a pattern
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

// maxLine bounds a line of a recording.
const maxLine = 1 << 30

// readRecordings reads recordings, each of which begins with its start.
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
			return nil, fmt.Errorf("claudetest: recording, line %d: there is no start before it", n)
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

// Err returns the first *[ReplayError] of all connections, or nil if the program did what was
// recorded.
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
		return nil, errors.New("claudetest: replay: there is no further recording")
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
