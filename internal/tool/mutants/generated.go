package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// group is code that has a score.
type group struct {
	name  string   // group is a part of the code with a separate score.
	also  []string // other packages whose tests also run
	alone bool     // without the folders below it
}

// groups are the packages with a score, each with those below it.
var groups = []group{
	{name: "server"},
	{name: "eventlog"},
	{name: "agent", also: []string{"./claude/claudeevent", "./server/session"}},
	{name: "acp"},
	{name: "codex"},
	{name: "claude"},
	{name: "workspace"},
	{name: "client", also: []string{"./server"}},
	{name: "webhook", also: []string{"./server"}},
	{name: "web/src/fold", also: []string{"./claude/claudeevent", "./codex/codexevent"}},
	{name: "web/src/state"},
	{name: "web/src/rpc"},
}

// selected returns the groups with a matching name. If no name matches, it returns the group of the folder with that
// name and of the folders below it, or after "./" the folder alone.
func selected(name string) ([]group, error) {
	where, err := regexp.Compile(name)
	if err != nil {
		return nil, err
	}
	some := slices.DeleteFunc(slices.Clone(groups), func(g group) bool { return !where.MatchString(g.name) })
	if len(some) == 0 {
		folder, alone := strings.CutPrefix(name, "./")
		some = []group{{name: folder, alone: alone}}
	}
	return some, nil
}

// enough is the required percentage of detected changes in a group.
const enough = 85

// generator generates bugs from the code, plants a sample of them, and counts those that the tests detect.
type generator struct {
	*job
	groups  []group
	files   *regexp.Regexp
	limit   time.Duration // for each bug
	seed    uint64
	count   int // for each group
	scratch string
	known   []known
}

// known is a change that no test can detect. It is found by the text of its line.
type known struct {
	File   string `json:"file"`
	Line   string `json:"line"`
	Change string `json:"change"`
	Reason string `json:"reason"`
}

// readKnown reads the changes that no test can detect.
func readKnown(root string) ([]known, error) {
	text, err := os.ReadFile(filepath.Join(root, "testdata", "mutants", "generated", "equivalent.json"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []known
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("equivalent.json: %w", err)
	}
	for _, k := range list {
		if k.File == "" || k.Line == "" || k.Change == "" || k.Reason == "" {
			return nil, fmt.Errorf("equivalent.json: %q %q: file, line, change and reason are needed", k.File, k.Line)
		}
	}
	return list, nil
}

// equivalent reports whether a change is on the list of those that no test can detect.
func (g *generator) equivalent(c *change) bool {
	return slices.ContainsFunc(g.known, func(k known) bool {
		return k.File == c.File && k.Line == c.Text && k.Change == c.String()
	})
}

// language finds, checks and builds the changes of a group.
type language interface {
	changes(ctx context.Context) ([]change, error)
	compile(ctx context.Context, list []*change) ([]bool, error)
	build(ctx context.Context, sample []*change) ([]*suiteTests, error)
	restore() error // of the copy
}

// suiteTests is a suite with the names of its tests.
type suiteTests struct {
	*suite
	tests []string
}

// generated plants a sample in each group and reports whether every score is high enough.
func generated(ctx context.Context, g *generator) (bool, error) {
	known, err := readKnown(g.root)
	if err != nil {
		return false, err
	}
	g.known = known
	done, err := g.makeCopy(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	ok := true
	var table strings.Builder
	for _, gr := range g.groups {
		started := time.Now()
		killed, lived, err := g.group(ctx, gr)
		if err != nil {
			return false, fmt.Errorf("%s: %w", gr.name, err)
		}
		score := 100 * killed / max(1, killed+lived)
		ok = ok && score >= enough
		fmt.Fprintf(&table, "%-14s %3d of %3d killed, %3d %%, %s\n", gr.name, killed, killed+lived, score, time.Since(started).Round(time.Second))
	}
	fmt.Fprintf(g.out, "\ngenerated bugs, seed %d; at least %d %% are to be killed\n%s", g.seed, enough, table.String())
	return ok, nil
}

// group plants a sample in one group.
func (g *generator) group(ctx context.Context, gr group) (killed, lived int, err error) {
	g.scratch, err = os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(g.scratch)
	var lang language = &goLanguage{root: g.copy, scratch: g.scratch, group: gr}
	if strings.HasPrefix(gr.name, "web/") {
		lang = &webLanguage{root: g.copy, scratch: g.scratch, group: gr}
	}
	all, err := lang.changes(ctx)
	if err != nil {
		return 0, 0, err
	}
	all = slices.DeleteFunc(all, func(c change) bool { return g.files != nil && !g.files.MatchString(c.File) })
	sample, err := g.sample(ctx, lang, all)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, lang.restore()) }()
	suites, err := lang.build(ctx, sample)
	if err != nil {
		return 0, 0, err
	}
	tests, err := g.trace(ctx, suites)
	if err != nil {
		return 0, 0, err
	}
	fmt.Fprintf(g.out, "%s: %d of %d possible bugs, %d tests\n", gr.name, len(sample), len(all), len(tests))
	for _, c := range sample {
		by, err := g.plantChange(ctx, c, tests)
		if err != nil {
			return 0, 0, err
		}
		if by == "" {
			lived++
			why := ""
			if !slices.ContainsFunc(tests, func(t *test) bool { return t.hits[c.id] }) {
				why = " (no test reaches it)"
			}
			fmt.Fprintf(g.out, "%-10s %s:%d %s%s\n", survived, c.File, c.Line, c, why)
			continue
		}
		killed++
		if g.verbose {
			fmt.Fprintf(g.out, "%-10s %s:%d %s, by %s\n", caught, c.File, c.Line, c, by)
		}
	}
	return killed, lived, nil
}

// sample selects changes that compile, by the seed.
func (g *generator) sample(ctx context.Context, lang language, all []change) ([]*change, error) {
	order := rand.New(rand.NewPCG(g.seed, 0)).Perm(len(all))
	var sample []*change
	for len(order) > 0 && len(sample) < g.count {
		var list []*change
		for len(order) > 0 && len(list) < g.count-len(sample) {
			if c := &all[order[0]]; !g.equivalent(c) {
				list = append(list, c)
			}
			order = order[1:]
		}
		good, err := lang.compile(ctx, list)
		if err != nil {
			return nil, err
		}
		for i, c := range list {
			if good[i] {
				sample = append(sample, c)
				c.id = len(sample)
			}
		}
	}
	slices.SortFunc(sample, func(a, b *change) int {
		return strings.Compare(fmt.Sprintf("%s %8d", a.File, a.Start), fmt.Sprintf("%s %8d", b.File, b.Start))
	})
	return sample, nil
}

// trace runs every test separately once, and returns those that pass and reach a change, the quickest
// first.
func (g *generator) trace(ctx context.Context, suites []*suiteTests) ([]*test, error) {
	var tests []*test
	for _, s := range suites {
		for _, name := range s.tests {
			t, passed := s.trace(ctx, g.scratch, name, time.Minute)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if !passed {
				fmt.Fprintf(g.out, "%s in %s fails without a bug, and is left out\n", name, s.dir)
			} else if len(t.hits) > 0 {
				tests = append(tests, t)
			}
		}
	}
	slices.SortStableFunc(tests, func(a, b *test) int { return int(a.took - b.took) })
	return tests, nil
}

// plantChange runs the tests that reach a change with the change. It returns the test that failed, or "".
func (g *generator) plantChange(ctx context.Context, c *change, tests []*test) (string, error) {
	var rest []*test
	for _, t := range tests {
		if t.hits[c.id] {
			rest = append(rest, t)
		}
	}
	end := time.Now().Add(g.limit)
	for step := time.Second; len(rest) > 0 && time.Now().Before(end); step *= 4 {
		// A few quick tests first, which detect most bugs.
		n, sum := 0, time.Duration(0)
		for n < len(rest) && (n == 0 || sum+rest[n].took <= step) {
			sum += rest[n].took
			n++
		}
		batch := map[*suite][]string{}
		for _, t := range rest[:n] {
			batch[t.suite] = append(batch[t.suite], t.name)
		}
		rest = rest[n:]
		for s, names := range batch {
			limit := min(max(10*time.Second, 5*sum), g.limit)
			output, err := s.run(ctx, g.scratch, names, limit, fmt.Sprintf("PARLEY_MUTANT=%d", c.id))
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			if err != nil {
				if name := failed.FindStringSubmatch(output); name != nil {
					return name[1], nil
				}
				return strings.Join(names, "|"), nil
			}
		}
	}
	return "", nil
}

// goLanguage is a folder with packages of Go.
type goLanguage struct {
	root, scratch string
	group         group
	packages      []goPackage
	compiler      *compiler
}

func (l *goLanguage) changes(ctx context.Context) ([]change, error) {
	var err error
	pattern := "./" + l.group.name + "/..."
	if l.group.alone {
		pattern = "./" + l.group.name
	}
	if l.packages, err = goList(ctx, l.root, append([]string{pattern}, l.group.also...)...); err != nil {
		return nil, err
	}
	l.compiler = newCompiler(l.root, l.packages)
	var all []change
	for _, p := range l.packages {
		dir, err := filepath.Rel(l.root, p.Dir)
		if name := filepath.ToSlash(dir); err != nil || p.DepOnly || name != l.group.name && !strings.HasPrefix(name, l.group.name+"/") {
			continue
		}
		for _, file := range p.GoFiles {
			list, err := goChanges(l.root, filepath.ToSlash(filepath.Join(dir, file)))
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		}
	}
	return all, nil
}

func (l *goLanguage) compile(_ context.Context, list []*change) ([]bool, error) {
	good := make([]bool, len(list))
	for i, c := range list {
		var err error
		if good[i], err = l.compiler.compiles(c); err != nil {
			return nil, err
		}
	}
	return good, nil
}

func (l *goLanguage) build(ctx context.Context, sample []*change) ([]*suiteTests, error) {
	overlay, err := buildGo(l.root, l.scratch, l.compiler.packages, sample)
	if err != nil {
		return nil, err
	}
	return goSuites(ctx, l.root, l.scratch, tested(l.packages), true, "-overlay", overlay)
}

// restore has no effect: an overlay changes no files.
func (l *goLanguage) restore() error { return nil }

// goSuites builds the tests of packages.
func goSuites(ctx context.Context, root, scratch string, packages []goPackage, short bool, flags ...string) ([]*suiteTests, error) {
	var suites []*suiteTests
	for i, p := range packages {
		bin := filepath.Join(scratch, fmt.Sprintf("%d.test", i))
		cmd := exec.CommandContext(ctx, "go", append(append([]string{"test", "-c", "-trimpath", "-buildvcs=false", "-vet=off", "-ldflags=-s -w", "-o", bin}, flags...), p.ImportPath)...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go test -c %s: %w\n%s", p.ImportPath, err, firstLines(string(out), 20))
		}
		s := goSuite(bin, p.Dir, short)
		names, err := s.names(ctx, bin)
		if err != nil {
			return nil, fmt.Errorf("%s -test.list: %w", p.ImportPath, err)
		}
		suites = append(suites, &suiteTests{s, names})
	}
	return suites, nil
}
