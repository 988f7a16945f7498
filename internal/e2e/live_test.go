package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claudetest"
	"github.com/seed7221b0f9/parley/internal/e2e"
)

const (
	// recordedHome is the home directory in the recordings.
	recordedHome = "/home" + "/dev"
	// liveAtOnce is how many scenarios run at a time, liveLimit how long one may
	// take.
	liveAtOnce = 3
	liveLimit  = 90 * time.Second
)

// corpusDir is where the recordings are; PARLEY_WIRE_CORPUS names other ones of
// the same form.
func corpusDir() string {
	if dir := os.Getenv("PARLEY_WIRE_CORPUS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "testdata", "wire")
}

// TestLive runs every recording again: the real CLI against the same script of
// the API, this SDK in the place of the official one, driven by what its caller
// did. What comes is what was recorded, apart from what differs from run to run.
func TestLive(t *testing.T) {
	cli := e2e.CLI(t)
	entries, err := os.ReadDir(corpusDir())
	if err != nil {
		t.Fatal(err)
	}
	names := make(chan string)
	var workers sync.WaitGroup
	var tally liveTally
	for range liveAtOnce {
		workers.Go(func() {
			for name := range names {
				// Not t.Parallel: that runs no more at a time than there are processors.
				t.Run(name, func(t *testing.T) { liveScenario(t, cli, name, &tally) })
			}
		})
	}
	for _, e := range entries {
		if e.IsDir() {
			names <- e.Name()
		}
	}
	close(names)
	workers.Wait()
	tally.log(t)
}

// liveTally counts what was run and keeps what was not.
type liveTally struct {
	mu     sync.Mutex
	ran    int
	raw    int
	loose  []string
	notRun []string
}

func (y *liveTally) add(f func()) {
	y.mu.Lock()
	defer y.mu.Unlock()
	f()
}

func (y *liveTally) log(t *testing.T) {
	t.Logf("%d recordings of an SDK and %d without one ran", y.ran, y.raw)
	slices.Sort(y.notRun)
	for _, why := range y.notRun {
		t.Log("not run: " + why)
	}
	slices.Sort(y.loose)
	for _, why := range slices.Compact(y.loose) {
		t.Log("loose: " + why)
	}
}

// live is one scenario that is run again.
type live struct {
	t     *testing.T
	cli   string
	rec   *claudetest.Recording
	root  string // stands for recordedHome
	node  string
	env   map[string]string
	api   *claudetest.FakeAPI
	store *claudetest.MemoryStore
	tally *liveTally

	cutsConnections bool // the API breaks connections off
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
	l.rec, err = claudetest.ReadRecording(filepath.Join(corpusDir(), name), l.here)
	if err != nil {
		t.Fatal(err)
	}
	if why := l.cannotRun(); why != "" {
		tally.add(func() { tally.notRun = append(tally.notRun, name+": "+why) })
		return
	}
	l.layOut()
	if l.rec.Caller == nil {
		tally.add(func() { tally.raw++ })
		l.runRaw()
		return
	}
	tally.add(func() { tally.ran++ })
	l.runCalls()
}

// cannotRun says why a recording is not run again, "" if it is.
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
		default:
			some = true
		}
	}
	if some && l.rec.Caller.IDs == nil {
		return ""
	}
	return why
}

// here is a text with this run's directories in the place of the recorded ones.
func (l *live) here(s string) string {
	return strings.NewReplacer(recordedHome, l.root, dashed(recordedHome), dashed(l.root), "/usr/bin/node", l.node).Replace(s)
}

// there is the opposite of here.
func (l *live) there(s string) string {
	return strings.NewReplacer(l.root, recordedHome, dashed(l.root), dashed(recordedHome), l.node, "/usr/bin/node").Replace(s)
}

// dashed is a path as a part of a project's key.
func dashed(path string) string { return strings.ReplaceAll(path, "/", "-") }

// layOut makes the files and the environment that the recording began with.
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
	for _, d := range []string{"project", "extra"} {
		must(l.copyTree(filepath.Join(l.rec.Dir, "files", d), filepath.Join(l.root, d)))
	}
	servers := filepath.Join(corpusDir(), "..", "wire-servers")
	if _, err := os.Stat(servers); err != nil {
		servers = filepath.Join("..", "..", "testdata", "wire-servers")
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
		l.store = claudetest.NewMemoryStore(c.Store)
	}
}

// copyTree copies files, with this run's directories in them; a directory that
// does not exist is no error.
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
	var earlier []claude.Message
	for i := range l.rec.Caller.Calls {
		call := &l.rec.Caller.Calls[i]
		if i > 0 {
			l.betweenCalls()
			l.takeIDs(call, earlier)
		}
		if call.Spawn == nil || call.CLI != "" {
			l.t.Logf("call %d is not made: there was no real CLI", i+1)
			continue
		}
		c := &liveCall{live: l, call: call, n: i + 1, want: records[i], calls: calls, proc: l.rec.Processes[*call.Spawn]}
		c.run()
		c.compare()
		earlier = append(earlier, c.got.Messages...)
	}
}

// takeIDs gives a call the ids that come from the messages of earlier ones.
func (l *live) takeIDs(call *claudetest.Call, earlier []claude.Message) {
	for option, where := range l.rec.Caller.IDs {
		if _, ok := call.Options[option]; !ok {
			continue
		}
		if id := claudetest.LookupID(where, earlier); id != "" {
			call.Options[option] = fmt.Appendf(nil, "%q", id)
		}
	}
}

// betweenCalls does what the caller did between two calls, which the recording
// says in words: it took the local transcripts away.
func (l *live) betweenCalls() {
	text := l.rec.Caller.BetweenCalls
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
