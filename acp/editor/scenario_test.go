package editor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/tape"
	"github.com/seed7221b0f9/parley/internal/test/checkout"
)

// corpusVariable names a directory of recordings to use instead of the project's: one folder per
// scenario, each with script.json and timeline.jsonl.
const corpusVariable = "PARLEY_ACP_CORPUS"

// recordedScenario is a recording with its script.
type recordedScenario struct {
	Name     string
	Script   recordedScript
	Timeline []recordedLine
	Err      error // the error of reading it
}

// recordedLine is a line of a timeline.
type recordedLine struct {
	T   float64         `json:"t"`
	Dir string          `json:"dir"` // client, agent, exit, restart, killcli
	Msg json.RawMessage `json:"msg"`
	Raw string          `json:"raw"` // a line that is not JSON; then Msg is the line of the timeline
}

// recordedScript holds the steps of a scenario.
type recordedScript struct {
	Note         string               `json:"note"`
	Protocol     int                  `json:"protocol"`
	Env          map[string]string    `json:"env"`
	Files        map[string]string    `json:"files"`
	Unsaved      map[string]string    `json:"unsaved"`
	API          json.RawMessage      `json:"api"`
	Permissions  []recordedPermission `json:"permissions"`
	Elicitations []json.RawMessage    `json:"elicitations"`
	Steps        []recordedStep       `json:"steps"`
	SettleMS     *int                 `json:"settle_ms"`
}

// recordedPermission is an answer to a permission request.
type recordedPermission struct {
	OptionID  string `json:"optionId"`
	Kind      string `json:"kind"`
	Cancelled bool   `json:"cancelled"`
	Bogus     string `json:"bogus"`
	Error     bool   `json:"error"`
	Hold      bool   `json:"hold"`
	DelayMS   int    `json:"delay_ms"`
}

// recordedStep is a step of a script.
type recordedStep struct {
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

// allScenarios returns the scenarios of the corpus in the environment, or of the project. It fails
// the test if it finds no scenarios.
func allScenarios(tb testing.TB) []recordedScenario {
	tb.Helper()
	dir := os.Getenv(corpusVariable)
	if dir == "" {
		dir = filepath.Join(checkout.Root(), "testdata", "acp")
	}
	list, err := readScenarios(dir)
	if err != nil {
		tb.Fatal(err)
	}
	if len(list) == 0 {
		tb.Fatalf("there is no scenario in %s", dir)
	}
	return list
}

// readScenarios reads the scenarios of a directory.
func readScenarios(dir string) ([]recordedScenario, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []recordedScenario
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		s := recordedScenario{Name: e.Name()}
		s.Err = s.read(filepath.Join(dir, e.Name()))
		list = append(list, s)
	}
	return list, nil
}

func (s *recordedScenario) read(dir string) error {
	if err := tape.ReadJSON(filepath.Join(dir, "script.json"), &s.Script, nil); err != nil {
		return err
	}
	lines, err := tape.ReadLines(filepath.Join(dir, "timeline.jsonl"))
	if err != nil {
		return err
	}
	before := 0.0
	for i, line := range lines {
		var l recordedLine
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			return fmt.Errorf("timeline.jsonl, line %d: %w", i+1, err)
		}
		if !slices.Contains([]string{"client", "agent", "exit", "restart", "killcli"}, l.Dir) || l.T < before || (l.Msg == nil) == (l.Raw == "") {
			return fmt.Errorf("timeline.jsonl, line %d: wrong direction or time, or no message: %.200s", i+1, line)
		}
		before = l.T
		if l.Msg == nil {
			l.Msg = json.RawMessage(line)
		}
		s.Timeline = append(s.Timeline, l)
	}
	return errors.Join(s.checkSide(dir, "client"), s.checkSide(dir, "agent"))
}

// checkSide compares the lines in the file of one side, if a recording has it, with those in the
// timeline.
func (s *recordedScenario) checkSide(dir, side string) error {
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
		if l.Raw != lines[n-1] && !reflect.DeepEqual(jsonValue(l.Msg), jsonValue([]byte(lines[n-1]))) {
			return fmt.Errorf("%s.jsonl, line %d: not the line of the timeline", side, n)
		}
	}
	if n != len(lines) {
		return fmt.Errorf("%s.jsonl has %d lines, the timeline has %d of them", side, len(lines), n)
	}
	return nil
}

// jsonValue returns the value of a line of JSON, or the text itself if it is not JSON.
func jsonValue(line []byte) (v any) {
	if json.Unmarshal(line, &v) != nil {
		return string(line)
	}
	return v
}
