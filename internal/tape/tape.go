// Package tape records dialogues with the process of an agent, reads recordings, and plays them.
package tape

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Process is one CLI of a recording.
type Process struct {
	Argv     []string
	Env      Env
	Stdin    []string // lines, without line feeds
	Stdout   []string // lines; the line feed is part of each that had one
	Stderr   string
	Exit     Exit
	Timeline []Event
}

// Env is the difference between the environment of the CLI and the caller's.
type Env struct {
	Added   map[string]string `json:"added_or_changed"`
	Removed []string          `json:"removed"`
	Cwd     string            `json:"cwd"`
}

// Exit is the exit status of a recorded CLI.
type Exit struct {
	Code   int     `json:"code"`
	Signal *string `json:"signal"`
}

// Event is one event of a recorded CLI.
type Event struct {
	Dir       string  `json:"dir"` // in, out, err, proc
	Ev        string  `json:"ev"`  // line, eof, signal, child_exit, …
	N         int     `json:"n"`
	Type      string  `json:"type"`
	Subtype   string  `json:"subtype"`
	RequestID string  `json:"request_id"`
	Err       string  `json:"err"`
	Sig       string  `json:"sig"`
	TMS       float64 `json:"t_ms"`
	// PartialBytes is the length of a last line without its line feed.
	PartialBytes int `json:"partial_bytes"`
}

// ReadProcess reads the process that was recorded in a directory.
func ReadProcess(dir string) (p *Process, err error) {
	p = &Process{}
	for _, f := range []struct {
		name string
		dst  any
	}{{"argv.json", &p.Argv}, {"env.json", &p.Env}, {"exit.json", &p.Exit}} {
		if err := ReadJSON(filepath.Join(dir, f.name), f.dst, nil); err != nil {
			return nil, err
		}
	}
	stderr, err := os.ReadFile(filepath.Join(dir, "stderr.txt"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	p.Stderr = string(stderr)
	stdout, err := os.ReadFile(filepath.Join(dir, "stdout.jsonl"))
	if err != nil {
		return nil, err
	}
	p.Stdout = slices.Collect(strings.Lines(string(stdout)))
	if p.Stdin, err = ReadLines(filepath.Join(dir, "stdin.jsonl")); err != nil {
		return nil, err
	}
	events, err := ReadLines(filepath.Join(dir, "timeline.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, line := range events {
		var ev Event
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			return nil, fmt.Errorf("timeline.jsonl: %w", err)
		}
		p.Timeline = append(p.Timeline, ev)
	}
	return p, nil
}

// ReadJSON reads a file of JSON. rewrite, which may be nil, changes the text first.
func ReadJSON(path string, dst any, rewrite func(string) string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if rewrite != nil {
		data = []byte(rewrite(string(data)))
	}
	if err := json.Unmarshal(data, dst); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return nil
}

// ReadLines reads lines of any length, without their line feeds.
func ReadLines(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lines []string
	for r := bufio.NewReader(bytes.NewReader(data)); ; {
		line, err := r.ReadString('\n')
		if err == nil || line != "" {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
		if err != nil {
			return lines, nil
		}
	}
}

// Hints are facts about the client of a recorded process that its lines do not show.
type Hints struct {
	// EndsInput is true if the client closed, aborted or left.
	EndsInput bool
	// Optional are lines of the input that the client may omit, counted from 1.
	Optional map[int]bool
}

// Read reads the recording of a directory: its first process, or nil if no process was started, and
// the hints of its caller.json, which is optional.
func Read(dir string) (*Process, Hints, error) {
	var caller struct {
		Calls []struct {
			Steps []struct {
				Do string `json:"do"`
			} `json:"steps"`
			Answers []struct {
				AnswerLine      int `json:"answer_line"`
				CancelledByLine int `json:"cancelled_by_line"`
			} `json:"answers"`
		} `json:"calls"`
	}
	hints := Hints{Optional: map[int]bool{}}
	if err := ReadJSON(filepath.Join(dir, "caller.json"), &caller, nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, hints, err
	}
	if len(caller.Calls) > 0 {
		for _, s := range caller.Calls[0].Steps {
			hints.EndsInput = hints.EndsInput || slices.Contains([]string{"close", "abort", "stop_reading"}, s.Do)
		}
		for _, a := range caller.Calls[0].Answers {
			hints.Optional[a.AnswerLine] = hints.Optional[a.AnswerLine] || a.CancelledByLine > 0
		}
	}
	p, err := ReadProcess(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hints, nil
	}
	return p, hints, err
}
