package transcript_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/transcript"
	"golang.org/x/text/unicode/norm"
)

// alphabets are characters of directory names: spaces and dots, CJK, emoji of one and of many code
// points, combining marks in both normal forms.
var alphabets = [][]string{
	{"a", "Z", "0", "_", "-", " ", ".", "(", ")", "+", "@", "'", "~", "%", "&"},
	{"日", "本", "語", "한", "글", "中", "文", "。"},
	{"👩", "👩‍👩‍👧", "🇯🇵", "😀", "✌️", "𝒳", "𠮷"},
	{norm.NFC.String("é"), norm.NFD.String("é"), norm.NFC.String("ü"), norm.NFD.String("ü"), norm.NFD.String("が"), "ñ", "ß", "ﬁ"},
}

// generatePath returns a path below root, sometimes with 250 or more UTF-16 units, so that its key
// is cut.
func generatePath(rng *rand.Rand, root string, i int) string {
	length := 1 + rng.IntN(40)
	if i%4 == 0 {
		length = 180 + rng.IntN(90)
	}
	path := filepath.Join(root, fmt.Sprint(i))
	name := ""
	for n := 0; n < length; n++ {
		alphabet := alphabets[0]
		if rng.IntN(2) == 0 {
			alphabet = alphabets[rng.IntN(len(alphabets))]
		}
		name += alphabet[rng.IntN(len(alphabet))]
		if len(name) > 150 || rng.IntN(25) == 0 {
			path, name = filepath.Join(path, "x"+name+"x"), ""
		}
	}
	return filepath.Join(path, "x"+name+"x")
}

// TestProjectKeyAsOfficial puts a session under the key of each of 200 generated directories, in a
// long run of 1,000. The official SDK and this package find each.
func TestProjectKeyAsOfficial(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the generated names are none on Windows")
	}
	o := startOfficial(t)
	dir := transcript.Open(o.config)
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	paths := short.Count(100, 200, 1000)
	var generated []string
	long := 0
	for i := range paths {
		path := generatePath(rng, root, i)
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		generated = append(generated, path)
		key := claude.ProjectKey(path)
		if len(key) > 200 {
			long++
		}
		putPrompt(t, filepath.Join(o.config, "projects", key), pathID(i), path)
	}
	if long < paths/10 {
		t.Errorf("only %d of %d paths are long", long, paths)
	}
	// Send a few questions ahead, so that neither side waits for the other.
	sent := 0
	for i, path := range generated {
		for ; sent < min(paths, i+20); sent++ {
			o.send("listSessions", map[string]any{"dir": generated[sent], "includeWorktrees": false})
		}
		var list []struct{ SessionID, CWD string }
		if err := o.receive(&list); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, s := range list {
			found = found || s.SessionID == pathID(i) && s.CWD == path
		}
		if !found {
			t.Errorf("the official SDK does not find a session of %q under %s", path, claude.ProjectKey(path))
		}
		ours := 0
		for info, err := range dir.Sessions(t.Context(), transcript.Filter{Dir: path, NoWorktrees: true}) {
			if err != nil {
				t.Fatal(err)
			}
			if info.SessionID == pathID(i) {
				ours++
			}
		}
		if ours != 1 {
			t.Errorf("we find %d sessions of %q", ours, path)
		}
	}
}

func pathID(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", i) }

// putPrompt writes a session of one prompt.
func putPrompt(t *testing.T, project, id, cwd string) {
	t.Helper()
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hello"},"uuid":%q,"timestamp":"2026-11-15T01:48:25.304Z","cwd":%s,"sessionId":%q}`+"\n",
		strings.Replace(id, "0000", "1111", 1), jsonText(t, cwd), id)
	if err := os.WriteFile(filepath.Join(project, id+".jsonl"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestProjectKeyAsCLI runs the real CLI in six generated directories, in a long run in 20: its
// session is under our key.
func TestProjectKeyAsCLI(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the generated names are none on Windows")
	}
	cli := e2e.CLI(t)
	api := claudetest.StartFakeAPI(t, claudetest.Replies(claudetest.Say("hello").Times(100)))
	rng := rand.New(rand.NewPCG(3, 4))
	root := t.TempDir()
	const atOnce = 3
	paths := short.Count(6, 6, 20)
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range paths {
		path := generatePath(rng, root, i)
		home := t.TempDir()
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := runIn(t, cli, api.URL(), path, home); err != nil {
				t.Errorf("in %q: %v", path, err)
			}
		})
	}
	group.Wait()
}

// runIn runs the CLI in a directory and checks that its session is in that project.
func runIn(t *testing.T, cli, url, path, home string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	opts, err := claudetest.HermeticOptions(home, url)
	if err != nil {
		return err
	}
	opts.CLIPath, opts.Dir = cli, path
	result, err := claude.Run(t.Context(), "hello", opts)
	if err != nil {
		return err
	}
	config := opts.Env["CLAUDE_CONFIG_DIR"]
	want := filepath.Join(config, "projects", claude.ProjectKey(path), result.SessionID+".jsonl")
	if _, err := os.Stat(want); err != nil {
		written, _ := filepath.Glob(filepath.Join(config, "projects", "*"))
		return fmt.Errorf("%w; the CLI wrote to %q", err, written)
	}
	for info, err := range transcript.Open(config).Sessions(t.Context(), transcript.Filter{Dir: path}) {
		if err != nil {
			return err
		}
		if info.SessionID == result.SessionID {
			return nil
		}
	}
	return fmt.Errorf("we do not list session %s", result.SessionID)
}
