package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// buildPages compiles all pages of the repository at root into the program at out, which runs the
// page that its first argument names. The files exist only in an overlay: the checkout is not
// changed. The error has the compiler's messages with lines of the pages. It returns the names of
// the pages that can be run.
func buildPages(root, out string, pages map[string]*assembly) (runnable []string, err error) {
	scratch, err := os.MkdirTemp("", "guide-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	replace := map[string]string{}
	put := func(place, text string) error {
		file := filepath.Join(scratch, fmt.Sprintf("%d.go", len(replace)))
		replace[filepath.Join(root, "internal", "test", "guide", "pages", filepath.FromSlash(place))] = file
		return os.WriteFile(file, []byte(text), 0o600)
	}
	dispatch := "package main\n\nimport (\n\t\"os\"\n\n"
	cases := ""
	for name, a := range pages {
		for file, text := range a.Files {
			if err := put(name+"/"+file, text); err != nil {
				return nil, err
			}
		}
		switch {
		case a.HasMain || len(a.Tests) > 0:
			runnable = append(runnable, name)
			dispatch += fmt.Sprintf("\tpage%s %q\n", name, module+"internal/test/guide/pages/"+name)
			cases += fmt.Sprintf("\tcase %q:\n\t\tpage%s.Main()\n", name, name)
		case len(a.Files) > 0:
			dispatch += fmt.Sprintf("\t_ %q\n", module+"internal/test/guide/pages/"+name)
		}
	}
	dispatch += ")\n\nfunc main() {\n\tpage := os.Args[1]\n\tos.Args = os.Args[1:]\n\tswitch page {\n" + cases + "\tdefault:\n\t\tpanic(page)\n\t}\n}\n"
	if err := put("main.go", dispatch); err != nil {
		return nil, err
	}
	overlay := filepath.Join(scratch, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return nil, err
	}
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-gcflags="+module+"internal/test/guide/pages/...=-e", "-overlay", overlay, "-o", out, "./internal/test/guide/pages")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // like scripts/dist, so that packages are compiled once
	if text, err := build.CombinedOutput(); err != nil {
		return nil, errors.Join(err, errors.New(strings.TrimSpace(string(text))))
	}
	slices.Sort(runnable)
	return runnable, nil
}
