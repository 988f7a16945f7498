// Package acprec reads recordings of agents that speak the Agent Client Protocol, runs their
// scripts against an agent, and folds what an agent sent to what a client shows. It is test
// support.
package acprec

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/checkout"
)

// Variable names a directory of recordings to use instead of the project's own: one folder
// a scenario, each with script.json and timeline.jsonl.
const Variable = "PARLEY_ACP_CORPUS"

// Scenario is a recording and the script that it was made with.
type Scenario struct {
	Name     string
	Script   Script
	Timeline []Line
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
		dir = filepath.Join(Root(), "testdata", "acp")
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

// Root is the root of the checkout.
func Root() string { return checkout.Root() }

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
		s, err := readScenario(filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, *s)
	}
	return list, nil
}

func readScenario(dir string) (*Scenario, error) {
	text, err := os.ReadFile(filepath.Join(dir, "script.json"))
	if err != nil {
		return nil, err
	}
	s := &Scenario{Name: filepath.Base(dir)}
	if err := json.Unmarshal(text, &s.Script); err != nil {
		return nil, err
	}
	lines, err := os.ReadFile(filepath.Join(dir, "timeline.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil // a script of our own
	}
	if err != nil {
		return nil, err
	}
	scan := bufio.NewScanner(bytes.NewReader(lines))
	scan.Buffer(nil, 64<<20)
	for scan.Scan() {
		var l Line
		if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
			return nil, err
		}
		if l.Msg == nil {
			l.Msg = json.RawMessage(bytes.Clone(scan.Bytes()))
		}
		s.Timeline = append(s.Timeline, l)
	}
	return s, scan.Err()
}
