// Command mutants plants bugs in a copy of the checkout, one at a time, and reports which of them the tests notice.
//
// The bugs are in testdata/mutants/*.json, each with the test that must fail. A bug that no test can notice, because it
// changes nothing, says so with a reason. The command ends with 1 if a bug survives, if its place is not found any more,
// if it does not build, or if its test fails without it.
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
	verbose := flags.Bool("v", false, "show which tests failed")
	if flags.Parse(args) != nil {
		return 2
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(out, "mutants:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := check(ctx, &job{root: *root, only: pattern, limit: *limit, verbose: *verbose, out: out})
	switch {
	case err != nil:
		fmt.Fprintln(out, "mutants:", err)
		return 1
	case !ok:
		return 1
	}
	return 0
}

// check plants every bug of the list and reports whether all is well.
func check(ctx context.Context, j *job) (bool, error) {
	list, err := readList(filepath.Join(j.root, "testdata", "mutants"))
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	if err := copyCheckout(ctx, j.root, dir); err != nil {
		return false, err
	}
	j.copy = dir
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
