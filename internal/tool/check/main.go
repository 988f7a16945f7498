// Command check runs the analyzers of go vet on the packages below a folder, tests included, as a system compiles them,
// and with -staticcheck those of Staticcheck too.
//
//	check [-staticcheck] FOLDER SYSTEM...
//
// It type-checks from source, and of modules that it does not check only the declarations. go vet and Staticcheck
// analyze these completely, go vet compiles them first, and both together take ten times as long.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	static := flag.Bool("staticcheck", false, "run the analyzers of Staticcheck too")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: check [-staticcheck] FOLDER SYSTEM...") }
	flag.Parse()
	if flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	status := 0
	for _, system := range flag.Args()[1:] {
		found, err := check(flag.Arg(0), system, *static)
		if err != nil {
			found = append(found, err.Error())
		}
		for _, f := range found {
			fmt.Fprintf(os.Stderr, "%s: %s\n", system, f)
			status = 1
		}
	}
	os.Exit(status)
}
