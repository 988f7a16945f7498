// Package acprec reads recordings of agents that speak the Agent Client Protocol. It is test
// support.
package acprec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed7221b0f9/parley/internal/tape"
	"github.com/seed7221b0f9/parley/internal/test/checkout"
	"github.com/seed7221b0f9/parley/internal/test/recording"
)

// Variable names a directory of recordings to use instead of the project's own: one folder
// a scenario, each with script.json and timeline.jsonl.
const Variable = "PARLEY_ACP_CORPUS"

// Scenario is a recording and the script that it was made with.
type Scenario struct {
	Name     string
	Script   Script
	Timeline []Line
	Err      error // why it cannot be read
}

// Line is a line of a timeline.
type Line struct {
	Dir string          `json:"dir"` // client, agent, exit, restart, killcli
	Msg json.RawMessage `json:"msg"`
}

// Script is what a scenario does.
type Script struct {
	Note         string            `json:"note"`
	Protocol     int               `json:"protocol"`
	Env          map[string]string `json:"env"`
	Files        map[string]string `json:"files"`
	Unsaved      map[string]string `json:"unsaved"`
	API          json.RawMessage   `json:"api"`
	Permissions  []Permission      `json:"permissions"`
	Elicitations []json.RawMessage `json:"elicitations"`
	Steps        []Step            `json:"steps"`
	SettleMS     *int              `json:"settle_ms"`
}

// Permission is an answer to a request for permission.
type Permission struct {
	OptionID  string `json:"optionId"`
	Kind      string `json:"kind"`
	Cancelled bool   `json:"cancelled"`
	Bogus     string `json:"bogus"`
	Error     bool   `json:"error"`
	Hold      bool   `json:"hold"`
	DelayMS   int    `json:"delay_ms"`
}

// Step is a step of a script.
type Step struct {
	Do     string          `json:"do"`
	As     string          `json:"as"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Update string          `json:"update"`
	Has    string          `json:"has"`
	Line   string          `json:"line"`
	MS     int             `json:"ms"`
	Path   string          `json:"path"`
	Text   string          `json:"text"`
}

// All returns the scenarios of the caller's corpus, or the project's own. It fails the test
// if there is none.
func All(tb testing.TB) []Scenario {
	tb.Helper()
	dir := os.Getenv(Variable)
	if dir == "" {
		dir = filepath.Join(checkout.Root(), "testdata", "acp")
	}
	list, err := Read(dir)
	if err != nil {
		tb.Fatal(err)
	}
	if len(list) == 0 {
		tb.Fatalf("there is no scenario in %s", dir)
	}
	return list
}

// Read reads the scenarios of a directory.
func Read(dir string) ([]Scenario, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []Scenario
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		s := Scenario{Name: e.Name()}
		s.Err = s.read(filepath.Join(dir, e.Name()))
		list = append(list, s)
	}
	return list, nil
}

func (s *Scenario) read(dir string) error {
	if err := tape.ReadJSON(filepath.Join(dir, "script.json"), &s.Script, nil); err != nil {
		return err
	}
	lines, err := tape.ReadLines(filepath.Join(dir, "timeline.jsonl"))
	if err != nil {
		return err
	}
	for i, line := range lines {
		var l Line
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			return fmt.Errorf("timeline.jsonl, line %d: %w", i+1, err)
		}
		if l.Msg == nil {
			l.Msg = json.RawMessage(line)
		}
		s.Timeline = append(s.Timeline, l)
	}
	return errors.Join(s.checkSide(dir, "client"), s.checkSide(dir, "agent"))
}

// checkSide compares the lines of one side, which a recording may have in a file of their own,
// with those in the timeline.
func (s *Scenario) checkSide(dir, side string) error {
	lines, err := tape.ReadLines(filepath.Join(dir, side+".jsonl"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	n := 0
	for _, l := range s.Timeline {
		if l.Dir != side {
			continue
		}
		if n++; n > len(lines) {
			break
		}
		if json.Valid([]byte(lines[n-1])) && !reflect.DeepEqual(recording.JSONValue(l.Msg), recording.JSONValue([]byte(lines[n-1]))) {
			return fmt.Errorf("%s.jsonl, line %d: not the line of the timeline", side, n)
		}
	}
	if n != len(lines) {
		return fmt.Errorf("%s.jsonl has %d lines, the timeline has %d of them", side, len(lines), n)
	}
	return nil
}
