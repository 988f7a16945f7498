// Command corpus checks the recordings of a folder, one line for each scenario. make corpus
// runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// check is a test with the scenarios of a folder as its subtests.
type check struct {
	pkg, test string
	variable  string // environment variable that names the folder
	prefix    string // of the subtests' names
}

var (
	decode = check{"./claude", "TestDecode", "PARLEY_WIRE_CORPUS", ""} // compares all of sdk.jsonl
	replay = check{"./claude", "TestRecordings", "PARLEY_WIRE_CORPUS", ""}
)

// kinds are the kinds of recordings and their checks. A scenario passes if it passes all of them.
var kinds = map[string][]check{
	"decode":      {decode},
	"wire":        {replay},
	"live":        {{"./claude", "TestLive", "PARLEY_WIRE_CORPUS", ""}, decode},
	"transcripts": {{"./transcript", "TestCorpus", "PARLEY_TRANSCRIPT_CORPUS", ""}},
	"fold":        {{"./claude/claudeevent", "TestRecordings", "PARLEY_WIRE_CORPUS", ""}, decode},
	"acp-agents":  {{"./acp/acpagent", "TestRecordings", "PARLEY_ACP_AGENTS_CORPUS", ""}},
	"acp-remote":  {{"./acp/acphttp", "TestRecordings", "PARLEY_ACP_REMOTE_CORPUS", ""}},
	"acp":         {{"./acp/editor", "TestRecordings", "PARLEY_ACP_CORPUS", "scenario/"}},
	"codex": {
		{"./codex", "TestRecordings", "PARLEY_CODEX_CORPUS", ""},
		{"./codex/item", "TestDecode", "PARLEY_CODEX_CORPUS", ""},
		{"./codex/rollout", "TestDecode_files", "PARLEY_CODEX_CORPUS", ""},
		{"./codex/codexevent", "TestRecordings", "PARLEY_CODEX_CORPUS", ""},
	},
}

func main() {
	kind := flag.String("kind", "", "one of "+strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	dir := flag.String("dir", "", "folder with a folder for each scenario")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := run(ctx, *kind, *dir, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
	}
	if err != nil || !ok {
		stop()
		os.Exit(1)
	}
}

// run checks the scenarios of a folder, writes their verdicts, and reports whether all pass.
func run(ctx context.Context, kind, dir string, out, progress io.Writer) (bool, error) {
	checks := kinds[kind]
	if checks == nil {
		return false, fmt.Errorf("KIND is %q, not one of %s", kind, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	if dir == "" {
		return false, errors.New("DIR is missing")
	}
	names, err := scenarios(dir)
	if err != nil {
		return false, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return false, err
	}
	failed := map[string]string{}
	var broken error
	for _, c := range checks {
		v, err := c.run(ctx, dir, nil, progress)
		if err != nil {
			return false, err
		}
		if kind == "live" && len(v.skipped) > 0 {
			// These ran no real CLI, so the recordings are played instead.
			again, err := replay.run(ctx, dir, slices.Sorted(maps.Keys(v.skipped)), progress)
			if err != nil {
				return false, err
			}
			v.add(again)
		}
		broken = errors.Join(broken, v.judge(names, failed))
	}
	for _, name := range names {
		if reason, ok := failed[name]; ok {
			fmt.Fprintf(out, "FAIL %s: %s\n", name, reason)
		} else {
			fmt.Fprintf(out, "ok %s\n", name)
		}
	}
	fmt.Fprintf(out, "%d of %d\n", len(names)-len(failed), len(names))
	return len(failed) == 0, broken
}

// scenarios returns the names of the folders in dir, except folders that contain only files of other types, which
// recordings use.
func scenarios(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dir, e.Name())) // a link to a folder is a scenario
		if err == nil && info.IsDir() && isScenario(filepath.Join(dir, e.Name())) {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no scenarios", dir)
	}
	return names, nil
}

// isScenario reports whether a folder is empty, which fails, or has folders or JSON.
func isScenario(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err != nil || len(entries) == 0 || slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return e.IsDir() || strings.Contains(e.Name(), ".json")
	})
}
