package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// verdicts are the outcomes of a check.
type verdicts struct {
	passed, skipped map[string]bool
	failed          map[string]string // the reason by scenario
	whole           string            // the reason why the check as a whole failed or did not run
}

func newVerdicts() *verdicts {
	return &verdicts{passed: map[string]bool{}, skipped: map[string]bool{}, failed: map[string]string{}}
}

// event is a line of go test -json.
type event struct {
	Action, Test, Output string
}

// run runs the check on a folder; only restricts it to some scenarios.
func (c check) run(ctx context.Context, dir string, only []string, progress io.Writer) (*verdicts, error) {
	pattern := "^" + c.test + "$"
	if only != nil {
		for i, name := range only {
			only[i] = regexp.QuoteMeta(name)
		}
		pattern += "/^(" + strings.Join(only, "|") + ")$"
	}
	fmt.Fprintf(progress, "corpus: %s in %s\n", c.test, c.pkg)
	cmd := exec.CommandContext(ctx, "go", "test", "-vet=off", "-count=1", "-timeout=60m", "-json", "-run", pattern, c.pkg)
	cmd.Env = append(os.Environ(), c.variable+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = cmd.Stdout // read has the only copy of progress
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	v, readErr := c.read(out, progress)
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	if err != nil && v.whole == "" && len(v.failed) == 0 {
		v.whole = err.Error()
	}
	return v, readErr
}

// read reads the output of go test.
func (c check) read(out io.Reader, progress io.Writer) (*verdicts, error) {
	v := newVerdicts()
	texts := map[string]*strings.Builder{} // by test
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return v, err
		}
		if err == io.EOF {
			return v, nil
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			e = event{Action: "output", Output: string(line)} // of the go command
			progress.Write(line)
		}
		if texts[e.Test] == nil {
			texts[e.Test] = &strings.Builder{}
		}
		if e.Action == "output" || e.Action == "build-output" {
			texts[e.Test].WriteString(e.Output)
		}
		v.take(c, e, texts[e.Test].String(), progress)
	}
}

// take records the end of a test. text is its output.
func (v *verdicts) take(c check, e event, text string, progress io.Writer) {
	name, _, _ := strings.Cut(strings.TrimPrefix(e.Test, c.test+"/"+c.prefix), "/")
	isScenario := strings.HasPrefix(e.Test, c.test+"/"+c.prefix) && name != ""
	name = part.ReplaceAllString(name, "")
	switch {
	case e.Action == "fail" && isScenario:
		if v.failed[name] == "" {
			v.failed[name] = reason(text)
			fmt.Fprintf(progress, "corpus: FAIL %s\n%s", name, text)
		}
	case e.Action == "pass" && isScenario:
		v.passed[name] = true
	case e.Action == "skip" && isScenario:
		v.skipped[name] = true
	case (e.Action == "fail" || e.Action == "skip") && v.whole == "" && said.MatchString(text) || e.Action == "build-fail" || e.Action == "fail" && e.Test == "" && v.whole == "":
		v.whole = reason(text)
	}
}

// add adds the outcomes of another run for scenarios that were skipped.
func (v *verdicts) add(w *verdicts) {
	maps.Copy(v.passed, w.passed)
	maps.Copy(v.failed, w.failed)
	v.skipped = w.skipped
	if v.whole == "" {
		v.whole = w.whole
	}
}

// judge adds the failed scenarios to a list. The error reports that the check failed although
// no scenario did.
func (v *verdicts) judge(names []string, failed map[string]string) error {
	missing := 0
	for _, name := range names {
		key := strings.ReplaceAll(name, " ", "_") // as go test names it
		switch why, bad := v.failed[key]; {
		case failed[name] != "":
		case bad:
			failed[name] = why
		case v.skipped[key]:
			failed[name] = "skipped"
		case !v.passed[key]:
			missing++
			failed[name] = strings.TrimSuffix("not run: "+v.whole, ": ")
		}
	}
	if v.whole != "" && missing == 0 && len(failed) == 0 {
		return errors.New(v.whole)
	}
	return nil
}

// said matches the output line of a failed test, which begins with its position. heading matches
// the lines that go test prints itself. part matches the number that go test appends to a repeated
// name.
var (
	part    = regexp.MustCompile(`#\d\d$`)
	said    = regexp.MustCompile(`(?m)^\s+\w+\.go:\d+: (.*)$`)
	heading = regexp.MustCompile(`^\s*(=== |--- |FAIL|PASS|ok |exit status)`)
)

// reason returns the first complaint of a test, on one line.
func reason(text string) string {
	lines := strings.Split(text, "\n")
	found := ""
	for i, line := range lines {
		if m := said.FindStringSubmatch(line); m != nil {
			found = m[1]
			if i+1 < len(lines) && strings.HasSuffix(found, ":") && !heading.MatchString(lines[i+1]) {
				found += " " + strings.Join(strings.Fields(strings.Join(lines[i+1:min(i+6, len(lines))], " ")), " ")
			}
			break
		}
	}
	for _, line := range lines {
		if found == "" && strings.TrimSpace(line) != "" && !heading.MatchString(line) {
			found = strings.TrimSpace(line)
		}
	}
	if found == "" {
		found = "failed"
	}
	return fmt.Sprintf("%.300s", found)
}
