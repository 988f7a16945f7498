package claude_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/tape"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

const (
	// liveAtOnce is the number of concurrent scenarios, liveLimit the time limit of one.
	liveAtOnce = 3
	liveLimit  = 90 * time.Second
)

// TestLive runs the recordings again: the real CLI with the same scripted API, and this SDK in place of the
// official one, with the recorded actions of the caller. The messages must equal the recorded ones, apart from
// values that differ from run to run. Recordings in testdata/soak.txt, which add no coverage, run only with
// make soak.
func TestLive(t *testing.T) {
	t.Parallel() // in parallel with other tests, because it mostly waits
	cli := e2e.CLI(t)
	scenarios, err := longestFirst(corpus(t))
	if err != nil {
		t.Fatal(err)
	}
	names := make(chan string)
	var workers sync.WaitGroup
	var tally liveTally
	scenarios, tally.left = withoutSoak(t, scenarios)
	for range liveAtOnce {
		workers.Go(func() {
			for name := range names {
				// Not t.Parallel, which limits concurrency to the number of processors.
				t.Run(name, func(t *testing.T) { liveScenario(t, cli, name, &tally) })
			}
		})
	}
	for _, name := range scenarios {
		names <- name
	}
	close(names)
	workers.Wait()
	tally.log(t)
}

// withoutSoak returns the recordings of the project without those that only make soak runs, and the number of
// those. Other corpora are run completely.
func withoutSoak(t *testing.T, names []string) ([]string, int) {
	t.Helper()
	if os.Getenv("PARLEY_SOAK") != "" || otherCorpus() {
		return names, 0
	}
	list, err := os.ReadFile(filepath.Join("testdata", "soak.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all, soak := len(names), strings.Fields(string(list))
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(soak, name) })
	return names, all - len(names)
}

// longestFirst returns the recordings of a directory, the slowest first, so that no slow one runs alone at the
// end.
func longestFirst(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	took := map[string]float64{}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		names = append(names, e.Name())
		files, err := fs.Glob(os.DirFS(filepath.Join(dir, e.Name())), "*/timeline.jsonl")
		if err != nil {
			return nil, err
		}
		for _, file := range append(files, "timeline.jsonl") {
			data, _ := os.ReadFile(filepath.Join(dir, e.Name(), file)) // absent if no process was started
			data = bytes.TrimSpace(data)
			var last tape.Event
			if json.Unmarshal(data[bytes.LastIndexByte(data, '\n')+1:], &last) == nil {
				took[e.Name()] += last.TMS
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(took[b], took[a]) })
	return names, nil
}

// liveTally counts the scenarios that ran and collects those that did not.
type liveTally struct {
	mu     sync.Mutex
	ran    int
	raw    int
	left   int
	loose  []string
	notRun []string
}

func (y *liveTally) add(f func()) {
	y.mu.Lock()
	defer y.mu.Unlock()
	f()
}

func (y *liveTally) log(t *testing.T) {
	t.Logf("%d recordings of an SDK and %d without one ran; %d are left to make soak", y.ran, y.raw, y.left)
	slices.Sort(y.notRun)
	for _, why := range y.notRun {
		t.Log("skipped: " + why)
	}
	slices.Sort(y.loose)
	for _, why := range slices.Compact(y.loose) {
		t.Log("loose: " + why)
	}
}

// live runs one scenario again.
type live struct {
	t     *testing.T
	cli   string
	rec   *recording
	root  string // replaces recordedHome
	node  string
	env   map[string]string
	api   *claudetest.FakeAPI
	store *memoryStore
	tally *liveTally

	cutsConnections bool // the API aborts connections
	fenced          bool // an empty .git isolates the project
}

func liveScenario(t *testing.T, cli, name string, tally *liveTally) {
	root, err := os.MkdirTemp("", "l")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Log(err)
		}
	})
	if root, err = filepath.EvalSymlinks(root); err != nil {
		t.Fatal(err)
	}
	l := &live{t: t, cli: cli, root: root, tally: tally}
	if l.node, err = exec.LookPath("node"); err != nil {
		l.node = "/usr/bin/node"
	}
	l.rec, err = readRecording(filepath.Join(corpus(t), name), l.here)
	if err != nil {
		t.Fatal(err)
	}
	if why := l.cannotRun(); why != "" {
		tally.add(func() { tally.notRun = append(tally.notRun, name+": "+why) })
		t.Skip("skipped: " + why)
	}
	l.layOut()
	if l.rec.Caller == nil {
		tally.add(func() { tally.raw++ })
		l.runRaw()
		l.compareRequests()
		return
	}
	tally.add(func() { tally.ran++ })
	l.runCalls()
	l.compareRequests()
}

func asJSON(t *testing.T, v any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// overtaken reports whether an answer is a deny of a PermissionRequest hook without effect, because the CLI
// already had an allow.
func overtaken(a recordedAnswer) bool {
	return a.HookEventName == "PermissionRequest" && a.AnswerLine == 0 && strings.Contains(string(a.Return), `"deny"`)
}

// cannotRun returns the reason why a recording cannot be run again, or "".
func (l *live) cannotRun() string {
	if l.rec.Caller == nil {
		return ""
	}
	why, some := "", false
	for i := range l.rec.Caller.Calls {
		call := &l.rec.Caller.Calls[i]
		switch {
		case call.CLI != "":
			why = "no real CLI was run: " + call.CLI
		case call.Spawn == nil:
			why = "nothing was started"
		case slices.ContainsFunc(call.Answers, overtaken):
			why = "an allow overtook the deny of a hook, which it does not here: TestHookDenies"
		default:
			some = true
		}
	}
	if some && l.rec.Caller.IDs.IsZero() {
		return ""
	}
	return why
}

// here returns a text with this run's directories in the place of the recorded ones.
func (l *live) here(s string) string {
	return strings.NewReplacer(recordedHome, l.root, dashed(recordedHome), dashed(l.root), "/usr/bin/node", l.node).Replace(s)
}

// toRecorded is the inverse of here.
func (l *live) toRecorded(s string) string {
	return strings.NewReplacer(l.root, recordedHome, dashed(l.root), dashed(recordedHome), l.node, "/usr/bin/node").Replace(s)
}

// dashed returns a path in the form of a project key.
func dashed(path string) string { return strings.ReplaceAll(path, "/", "-") }

// layOut creates the initial files and environment of the recording.
func (l *live) layOut() {
	must := func(err error) {
		l.t.Helper()
		if err != nil {
			l.t.Fatal(err)
		}
	}
	for _, d := range []string{"project", "extra", "tmp", ".claude", "servers"} {
		must(os.MkdirAll(filepath.Join(l.root, d), 0o700))
	}
	// The recordings were made outside of any repository, and an empty .git changes the CLI's output, so
	// isolate the project only if a parent directory is a repository.
	if l.fenced = underRepository(l.root); l.fenced {
		must(claudetest.IsolateProject(filepath.Join(l.root, "project")))
	}
	for _, d := range []string{"project", "extra"} {
		must(l.copyTree(filepath.Join(l.rec.Dir, "files", d), filepath.Join(l.root, d)))
	}
	servers := filepath.Join(corpus(l.t), "..", "..", "wire-servers")
	if _, err := os.Stat(servers); err != nil {
		servers = filepath.Join("..", "testdata", "wire-servers")
	}
	must(l.copyTree(servers, filepath.Join(l.root, "servers")))
	text, err := os.ReadFile(filepath.Join(l.rec.Dir, "api.json"))
	must(err)
	script, err := claudetest.ParseScript([]byte(l.here(string(text))))
	must(err)
	l.cutsConnections = slices.ContainsFunc(script.Replies, func(r claudetest.Reply) bool { return r.DropAfter != nil || r.Reset })
	l.api = claudetest.StartFakeAPI(l.t, script)
	environ, err := claudetest.HermeticEnv(l.root, l.api.URL())
	must(err)
	l.env = map[string]string{}
	for _, kv := range environ {
		k, v, _ := strings.Cut(kv, "=")
		l.env[k] = v
	}
	must(os.RemoveAll(filepath.Join(l.root, "home")))
	l.env["HOME"] = l.root
	l.env["CLAUDE_CONFIG_DIR"] = filepath.Join(l.root, ".claude")
	for k, v := range l.rec.Meta.EnvExtra {
		l.env[k] = l.here(v)
	}
	if c := l.rec.Caller; c != nil {
		l.store = newMemoryStore(c.Store)
	}
}

// underRepository reports whether a directory, or one above it, is a repository.
func underRepository(dir string) bool {
	for {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

// copyTree copies files and replaces directories in them by this run's; a directory that does not exist is not
// an error.
func (l *live) copyTree(from, to string) error {
	if _, err := os.Stat(from); err != nil {
		return nil
	}
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		dst := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(dst, 0o700)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(dst, []byte(l.here(string(data))), info.Mode().Perm())
	})
}

// runCalls makes the calls of the recording, one after the other.
func (l *live) runCalls() {
	records, calls := l.rec.Records(), l.rec.CallOutcomes()
	var earlier [][]message.Message
	for i := range l.rec.Caller.Calls {
		call := &l.rec.Caller.Calls[i]
		if i > 0 {
			l.betweenCalls(i)
			l.takeIDs(i, earlier)
		}
		if call.Spawn == nil || call.CLI != "" {
			l.t.Logf("call %d is not made: there was no real CLI", i+1)
			earlier = append(earlier, nil)
			continue
		}
		c := &liveCall{live: l, call: call, n: i + 1, want: records[i], calls: calls, proc: l.rec.Processes[*call.Spawn]}
		c.run()
		c.compare()
		earlier = append(earlier, c.got.Messages)
	}
}

// takeIDs gives a call the ids that come from the messages of earlier ones.
func (l *live) takeIDs(n int, earlier [][]message.Message) {
	calls := l.rec.Caller.Calls
	for option, where := range l.rec.Caller.IDs.Of(calls, n) {
		if id := lookupCallID(where, earlier); id != "" {
			calls[n].Options[option] = fmt.Appendf(nil, "%q", id)
		}
	}
}

// betweenCalls repeats the caller's actions between two calls, which the recording describes in words: it
// removes the local transcripts.
func (l *live) betweenCalls(n int) {
	text := l.rec.Caller.BetweenCalls.Before(n)
	if text == "" {
		return
	}
	l.t.Log("between calls: " + text)
	for _, verb := range []string{"remove", "delete", "wipe", "rm "} {
		if strings.Contains(strings.ToLower(text), verb) {
			if err := os.RemoveAll(filepath.Join(l.env["CLAUDE_CONFIG_DIR"], "projects")); err != nil {
				l.t.Fatal(err)
			}
		}
	}
}
