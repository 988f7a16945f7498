// Command mutants plants bugs in a copy of the checkout, one at a time, and reports which of them the tests detect.
//
// The bugs are in testdata/mutants/*.json, each with the test that must fail. A bug that no test can detect, because it has no
// effect, is marked with a reason. The command exits with 1 if a bug survives, if its place is not found, if it does not build, or
// if its test fails without it.
//
// Then it generates bugs: in each of a list of packages it negates a sample of conditions, shifts comparisons, drops returns and
// statements, ignores errors and swaps arguments, and runs the tests that reach the place. All bugs of a sample are in one build,
// each in a copy of its function; an environment variable selects one. The command exits with 1 if the tests detect fewer than 85
// % of a package's bugs. Bugs that no test can detect are in testdata/mutants/generated/equivalent.json.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout))
}

// run runs the command and returns the exit code.
func run(args []string, out io.Writer) int {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.SetOutput(out)
	root := flags.String("root", ".", "the checkout")
	only := flags.String("run", "", "only the bugs whose ids match this regular expression")
	limit := flags.Duration("limit", 3*time.Minute, "how long the test of one bug may take")
	each := flags.Duration("each", time.Minute, "how long the tests of one generated bug may take")
	in := flags.String("group", "", "only generated bugs, of the groups that match this regular expression, or of a folder: server/session, or ./server without those below it")
	file := flags.String("file", "", "only generated bugs in files that match this regular expression")
	seed := flags.Uint64("seed", 1, "selects the sample of generated bugs")
	count := flags.Int("count", 100, "how many bugs to generate for each package")
	verbose := flags.Bool("v", false, "show which tests failed")
	if flags.Parse(args) != nil {
		return 2
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(out, "mutants:", err)
		return 2
	}
	some, err := selected(*in)
	if err != nil {
		fmt.Fprintln(out, "mutants:", err)
		return 2
	}
	files, err := regexp.Compile(*file)
	if err != nil {
		fmt.Fprintln(out, "mutants:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	j := &job{root: *root, only: pattern, limit: *limit, verbose: *verbose, out: out}
	ok := true
	if *in == "" {
		ok, err = check(ctx, j)
	}
	if err == nil && *only == "" && *count > 0 {
		var enough bool
		enough, err = generated(ctx, &generator{job: j, groups: some, files: files, limit: *each, seed: *seed, count: *count})
		ok = ok && enough
	}
	switch {
	case err != nil:
		fmt.Fprintln(out, "mutants:", err)
		return 1
	case !ok:
		return 1
	}
	return 0
}

// check plants every bug of the list and reports whether all were detected.
func check(ctx context.Context, j *job) (bool, error) {
	list, err := readList(filepath.Join(j.root, "testdata", "mutants"))
	if err != nil {
		return false, err
	}
	done, err := j.makeCopy(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	tally := map[outcome]int{}
	for _, m := range list {
		if !j.only.MatchString(m.ID) {
			continue
		}
		result, detail := j.plant(ctx, m)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		tally[result]++
		fmt.Fprintf(j.out, "%-10s %-6s %s %s\n", result, m.ID, m.File, detail)
	}
	bad := tally[survived] + tally[stale] + tally[broken] + tally[unsound]
	fmt.Fprintf(j.out, "%d caught, %d equivalent, %d survived, %d stale, %d do not build, %d with a test that proves nothing\n",
		tally[caught], tally[equivalent], tally[survived], tally[stale], tally[broken], tally[unsound])
	return bad == 0 && len(list) > 0, nil
}

// makeCopy copies the checkout. The returned function deletes the copy.
func (j *job) makeCopy(ctx context.Context) (func(), error) {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err == nil { // as go list prints it
		err = copyCheckout(ctx, j.root, dir)
	}
	j.copy = dir
	return func() { os.RemoveAll(dir) }, err
}
