package repo

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/checkout"
)

// TestMain runs the tests in the root of the module.
func TestMain(m *testing.M) {
	if err := os.Chdir(checkout.Root()); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

const module = "github.com/seed7221b0f9/parley"

// systems are the systems that the project is built for. Checks that depend on the system run for each of them.
var systems = []string{"linux", "darwin", "windows"}

// repoFiles lists the files of the repository, with slashes: all that git does not ignore, so that a new file is
// checked before it is added. It walks the directories although git has a list, so that go test detects outdated
// cached results.
var repoFiles = sync.OnceValues(func() ([]string, error) {
	files, err := walkFiles()
	if err != nil {
		return nil, err
	}
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z").Output()
	if err != nil {
		return files, nil // not a checkout, or one that git does not trust
	}
	known := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		known[name] = true
	}
	return slices.DeleteFunc(files, func(name string) bool { return !known[name] }), nil
})

func walkFiles() ([]string, error) {
	var files []string
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "node_modules", "bin"}, d.Name()):
			return filepath.SkipDir
		case d.Type().IsRegular():
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	})
	return files, err
}

// sourceFiles returns the files of the repository that keep accepts, without test data.
func sourceFiles(t *testing.T, keep func(name string) bool) []string {
	t.Helper()
	all, err := repoFiles()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, name := range all {
		if !slices.Contains(strings.Split(name, "/"), "testdata") && keep(name) {
			files = append(files, name)
		}
	}
	if len(files) == 0 {
		t.Fatal("no files to check")
	}
	return files
}

func hasExt(ext string) func(string) bool {
	return func(name string) bool { return path.Ext(name) == ext }
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestScriptsExecutable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no executable bit")
	}
	scripts := sourceFiles(t, func(name string) bool { return name == ".ci/run" || path.Dir(name) == "scripts" })
	if !slices.Contains(scripts, ".ci/run") {
		t.Error("there is no .ci/run")
	}
	for _, name := range scripts {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&0o111 != 0o111 {
			t.Errorf("%s is not executable", name)
		}
	}
}

var (
	// machinePath matches an absolute path below a directory that differs between machines. The first group is the
	// next element, which is user or you in examples.
	machinePath = regexp.MustCompile(`(?m)(?:^|[\s"'` + "`" + `(=:,\[])(?:/(?:home|root|Users|work|workspace|builds|Volumes)|[A-Z]:\\+Users)[/\\]+([\w.-]+)`)
	// siblingPath matches a path to a directory next to the checkout.
	siblingPath = regexp.MustCompile(`\.\./(?:shared|private|scratch)\b`)
)

// machinePaths returns the paths in text that are specific to one machine.
func machinePaths(text []byte) []string {
	var found []string
	for _, m := range machinePath.FindAllSubmatch(text, -1) {
		// dev is the user of the recordings.
		if user := string(m[1]); user != "user" && user != "you" && user != "dev" {
			found = append(found, strings.TrimSpace(string(m[0])))
		}
	}
	for _, m := range siblingPath.FindAll(text, -1) {
		found = append(found, string(m))
	}
	return found
}

func TestNoMachinePaths(t *testing.T) {
	for _, name := range sourceFiles(t, func(string) bool { return true }) {
		text := readFile(t, name)
		if bytes.IndexByte(text, 0) >= 0 {
			continue
		}
		for _, p := range machinePaths(text) {
			t.Errorf("%s names a path of one machine: %s…", name, p)
		}
	}
}

func TestMachinePaths(t *testing.T) {
	tests := map[string]int{
		"see /ho" + "me/someone/x and \"/ro" + "ot/.cache\"": 2,
		"C:" + `\Users\someone\x`:                            1,
		"../sha" + "red/notes.md":                            1,
		"/home/user/project, /Users/you/project":             0,
		"https://example.com/home/page":                      0,
		"/usr/bin/claude /tmp/x ../claude":                   0,
	}
	for text, want := range tests {
		if got := machinePaths([]byte(text)); len(got) != want {
			t.Errorf("machinePaths(%q) = %q, want %d", text, got, want)
		}
	}
}

var (
	fencedCode = regexp.MustCompile("(?ms)^\\s*```.*?^\\s*```")
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	markdown   = regexp.MustCompile(`(?m)\]\(<?([^)>\s]+)>?[^)]*\)|^\[[^\]]+\]:\s+(\S+)`)
	scheme     = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
)

// relativeLinks returns the files that a Markdown text in directory dir links to.
func relativeLinks(dir string, text []byte) []string {
	text = inlineCode.ReplaceAll(fencedCode.ReplaceAll(text, nil), nil)
	var links []string
	for _, m := range markdown.FindAllSubmatch(text, -1) {
		link, _, _ := strings.Cut(string(m[1])+string(m[2]), "#")
		switch {
		case link == "" || scheme.MatchString(link):
		case strings.HasPrefix(link, "/"):
			links = append(links, path.Clean(link[1:]))
		default:
			links = append(links, path.Join(dir, link))
		}
	}
	return links
}

func TestMarkdownLinks(t *testing.T) {
	for _, name := range sourceFiles(t, hasExt(".md")) {
		for _, link := range relativeLinks(path.Dir(name), readFile(t, name)) {
			if _, err := os.Stat(filepath.FromSlash(link)); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, link)
			}
		}
	}
}

func TestRelativeLinks(t *testing.T) {
	text := "[a](A.md#x) [b](https://example.com/b) ![c](img/c.png \"title\") [d](#here) `[e](E.md)` [f](/F.md)\n" +
		"```\n[g](G.md)\n```\n[h]: ../H.md\n"
	want := []string{"docs/A.md", "docs/img/c.png", "F.md", "H.md"}
	if got := relativeLinks("docs", []byte(text)); !slices.Equal(got, want) {
		t.Errorf("relativeLinks = %q, want %q", got, want)
	}
}

// TestEveryPackageIsTested checks that make test runs each package, and again with the race detector unless it has one goroutine, or builds
// or starts programs.
func TestEveryPackageIsTested(t *testing.T) {
	list := func(command ...string) []string {
		t.Helper()
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { // the variables of the make that runs this test
			return strings.HasPrefix(kv, "PKG=") || strings.HasPrefix(kv, "ALL=") || strings.HasPrefix(kv, "MAKE")
		})
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", command, err)
		}
		return strings.Fields(string(out))
	}
	all := list("make", "--silent", "--no-print-directory", "tested")
	slices.Sort(all)
	if want := list("go", "list", "./..."); !slices.Equal(all, want) {
		t.Errorf("make test runs %d packages, want all %d:\n%q\n%q", len(all), len(want), all, want)
	}
	raced := list("make", "--silent", "--no-print-directory", "packages")
	plain := slices.DeleteFunc(all, func(name string) bool { return slices.Contains(raced, name) })
	want := []string{module + "/claude/claudeevent", module + "/codex/codexevent", module + "/contextref", module + "/internal/lexers", module + "/internal/repo",
		module + "/internal/tool/corpus", module + "/internal/tool/mutants", module + "/internal/tool/schemagen"}
	if plain = slices.DeleteFunc(plain, func(name string) bool {
		return anyMatches([]string{module + "/bench/...", module + "/cmd/parley/...", module + "/internal/test/e2e"}, name)
	}); !slices.Equal(plain, want) {
		t.Errorf("without the race detector: %q, want %q", plain, want)
	}
}

// maxRootFolders limits the number of folders in the root of the module.
const maxRootFolders = 22

func TestRootFolders(t *testing.T) {
	folders := map[string]bool{}
	files, err := repoFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		first, _, below := strings.Cut(name, "/")
		if below && !strings.HasPrefix(first, ".") {
			folders[first] = true
		} else if !below && path.Ext(name) == ".go" {
			t.Errorf("%s is in the root, where no package is", name)
		}
	}
	if len(folders) < 10 || len(folders) > maxRootFolders {
		t.Errorf("the root has %d folders, want at most %d: %q", len(folders), maxRootFolders, slices.Sorted(maps.Keys(folders)))
	}
}
