package parley_test

import (
	"go/ast"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// medianDocWords is the least number of words that the median doc comment of an exported
// name has.
const medianDocWords = 15

// phrases are habits of speech that a reader of the standard library stumbles over. Each
// has a plain English form: "is not a number" for "is no number", "after" for "behind".
var phrases = []struct {
	name  string
	match func(text string) int
}{
	{"is no X", countIsNo},
	{"told", says(`told`)},
	{"and tells", says(`and tells`)},
	{"behind", says(`behind`)},
	{"nobody, somebody", says(`nobody|somebody`)},
	{"at its begin", says(`(?:its|the|their) begin`)},
	{"for want of", says(`(?:for|from) want of`)},
	{"say how, says how", says(`says? how`)},
	{"whoever", says(`whoever`)},
}

// says counts a regular expression between the borders of words, without regard to case.
func says(expr string) func(string) int {
	re := regexp.MustCompile(`(?i)\b(?:` + expr + `)\b`)
	return func(text string) int { return len(re.FindAllString(text, -1)) }
}

var isNo = regexp.MustCompile(`(?i)\b((?:\w+ ){0,2})(?:is|are|was|were|be|being) no (\w+)`)

// countIsNo counts "x is no y". The plain "there is no y" and "is no longer" do not count.
func countIsNo(text string) int {
	n := 0
	if !strings.Contains(text, " no ") { // most texts, at a fraction of the time
		return 0
	}
	for _, m := range isNo.FindAllStringSubmatch(text, -1) {
		there := strings.Contains(strings.ToLower(m[1]), "there ")
		if !there && !slices.Contains([]string{"longer", "more", "less", "greater"}, m[2]) {
			n++
		}
	}
	return n
}

// wordCount is what the comments of some files hold.
type wordCount struct {
	lines int            // lines of comments
	found map[string]int // by the name of a phrase
	where map[string][]string
}

func newWordCount() *wordCount {
	return &wordCount{found: map[string]int{}, where: map[string][]string{}}
}

// add counts the comments of a file. Generated files do not count.
func (c *wordCount) add(f *goFile) {
	if ast.IsGenerated(f.ast) {
		return
	}
	for _, group := range f.ast.Comments {
		c.lines += f.fset.Position(group.End()).Line - f.fset.Position(group.Pos()).Line + 1
		text := strings.Join(strings.Fields(group.Text()), " ")
		for _, p := range phrases {
			if n := p.match(text); n > 0 {
				c.found[p.name] += n
				c.where[p.name] = append(c.where[p.name], f.at(group, "%q", p.name))
			}
		}
	}
}

// rate returns how often a phrase occurs in a thousand lines of comments.
func (c *wordCount) rate(phrase string) float64 {
	return 1000 * float64(c.found[phrase]) / float64(max(c.lines, 1))
}

// TestWords compares the comments of the repository with those of net/http: the phrases
// occur no more often.
func TestWords(t *testing.T) {
	ours, theirs := newWordCount(), newWordCount()
	for _, name := range sourceFiles(t, hasExt(".go")) {
		if name != "repo_words_test.go" { // which names them all
			ours.add(parsed(t, name))
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(root)), "src", "net", "http")
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		theirs.add(parsed(t, name))
	}
	if theirs.lines < 1000 {
		t.Fatalf("%d lines of comments in %s; is the source of the standard library there?", theirs.lines, dir)
	}
	t.Logf("%-20s %6d lines of comments here, %6d in net/http", "", ours.lines, theirs.lines)
	for _, p := range phrases {
		t.Logf("%-20s %6d here, %6d in net/http; in 1,000 lines %.2f and %.2f",
			p.name, ours.found[p.name], theirs.found[p.name], ours.rate(p.name), theirs.rate(p.name))
		if ours.rate(p.name) > theirs.rate(p.name) {
			t.Errorf("%q is more frequent than in net/http:\n%s", p.name, strings.Join(ours.where[p.name], "\n"))
		}
	}
}

func parsed(t *testing.T, name string) *goFile {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parseGo(filepath.ToSlash(name), src)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// docComment is the comment of an exported name. The names of a group that have no comment
// of their own share that of the group and count as one, the first of them.
type docComment struct {
	name string
	node ast.Node
	text string
}

func (d docComment) words() int { return len(strings.Fields(d.text)) }

// docComments returns the comments of the exported names at the top level of a file and of
// the methods of exported types. The members of structs and the methods of interfaces are
// not among them.
func docComments(f *goFile) []docComment {
	var docs []docComment
	for _, decl := range f.ast.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Name.IsExported() && (decl.Recv == nil || ast.IsExported(receiver(decl))) && decl.Doc != nil {
				docs = append(docs, docComment{decl.Name.Name, decl, decl.Doc.Text()})
			}
		case *ast.GenDecl:
			docs = append(docs, genDocs(decl)...)
		}
	}
	return docs
}

func genDocs(decl *ast.GenDecl) []docComment {
	var docs []docComment
	shared := false
	for _, spec := range decl.Specs {
		var name *ast.Ident
		var own, line *ast.CommentGroup
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			name, own, line = spec.Name, spec.Doc, spec.Comment
		case *ast.ValueSpec:
			name, own, line = spec.Names[0], spec.Doc, spec.Comment
		}
		switch {
		case name == nil || !name.IsExported():
		case own != nil:
			docs = append(docs, docComment{name.Name, spec, own.Text()})
		case decl.Doc != nil && !shared:
			shared = true
			docs = append(docs, docComment{name.Name, spec, decl.Doc.Text()})
		case decl.Doc == nil && line != nil:
			docs = append(docs, docComment{name.Name, spec, line.Text()})
		}
	}
	return docs
}

// fillers are words that say nothing about a name.
var fillers = strings.Fields("a an the is are of for in to it its this that and or returns return reports whether " +
	"holds represents implements interface type method function value values has with one some")

var word = regexp.MustCompile(`[A-Za-z]+`)

// repeatsName reports whether a comment has no word beside those of the name and fillers.
func repeatsName(name, text string) bool {
	known := camelWords(name)
	for _, w := range word.FindAllString(text, -1) {
		w = strings.ToLower(w)
		said := w == strings.ToLower(name) || slices.Contains(fillers, w) || slices.ContainsFunc(known, func(k string) bool {
			return strings.TrimSuffix(w, "s") == strings.TrimSuffix(k, "s")
		})
		if !said {
			return false
		}
	}
	return true
}

// camelWords splits a name of Go at its capital letters, into lower case.
func camelWords(name string) []string {
	runes := []rune(name)
	var words []string
	start := 0
	for i := 1; i <= len(runes); i++ {
		if i == len(runes) || unicode.IsUpper(runes[i]) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			words = append(words, strings.ToLower(string(runes[start:i])))
			start = i
		}
	}
	return words
}

// TestDocWords bounds the length of doc comments from below, at the median, and finds those
// that repeat the name they belong to.
func TestDocWords(t *testing.T) {
	var counts []int
	perDir := map[string][]int{}
	for _, name := range sourceFiles(t, hasExt(".go")) {
		f := parsed(t, name)
		if !f.isPublic() || ast.IsGenerated(f.ast) {
			continue
		}
		for _, d := range docComments(f) {
			counts = append(counts, d.words())
			dir := filepath.ToSlash(filepath.Dir(name))
			perDir[dir] = append(perDir[dir], d.words())
			if repeatsName(d.name, d.text) {
				t.Error(f.at(d.node, "the comment of %s repeats the name: %q", d.name, strings.TrimSpace(d.text)))
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(perDir)) {
		t.Logf("%-20s %5d comments, %3d words at the median", dir, len(perDir[dir]), median(perDir[dir]))
	}
	t.Logf("%-20s %5d comments, %3d words at the median", "all", len(counts), median(counts))
	if got := median(counts); got < medianDocWords {
		t.Errorf("the median doc comment has %d words, want at least %d", got, medianDocWords)
	}
}

// median returns the middle of some numbers, the lower one of two.
func median(counts []int) int {
	if len(counts) == 0 {
		return 0
	}
	counts = slices.Sorted(slices.Values(counts))
	return counts[(len(counts)-1)/2]
}

func TestWords_counts(t *testing.T) {
	for text, want := range map[string]int{
		"a line that is no message":     1,
		"They are no patterns.":         1,
		"There is no message.":          0,
		"there will be no message":      0,
		"It is no longer used.":         0,
		"nothing of it":                 0,
		`"" is no fault`:                1,
		"it is no one and is no number": 2,
	} {
		if got := countIsNo(text); got != want {
			t.Errorf("countIsNo(%q) = %d, want %d", text, got, want)
		}
	}
	if got := says(`told`)("Told twice: told, untold"); got != 2 {
		t.Errorf("told: got %d, want 2", got)
	}
	src := "package a\n\n// F is what was\n// told behind.\nfunc F() {} // of somebody\n"
	f, err := parseGo("a/a.go", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	c := newWordCount()
	c.add(f)
	if c.lines != 3 || c.found["told"] != 1 || c.found["behind"] != 1 || c.found["nobody, somebody"] != 1 {
		t.Errorf("got %d lines and %v", c.lines, c.found)
	}
}

func TestDocWords_repeated(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{"SessionID", "SessionID returns the session ID.", true},
		{"Close", "Close closes it.", true},
		{"Close", "Close ends the session.", false},
		{"Sessions", "Sessions is the session.", true},
		{"Raw", "Raw returns the line as it was read.", false},
		{"Type", "Type implements Message.", false},
	} {
		if got := repeatsName(tt.name, tt.text); got != tt.want {
			t.Errorf("repeatsName(%q, %q) = %t", tt.name, tt.text, got)
		}
	}
	if got := strings.Join(camelWords("HTTPServerID"), " "); got != "http server id" {
		t.Errorf("camelWords: got %q", got)
	}
}
