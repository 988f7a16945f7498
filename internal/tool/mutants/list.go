package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// mutant is a bug to plant: in File, Old becomes New.
type mutant struct {
	ID   string `json:"id"`
	File string `json:"file"` // slash-separated, from the root of the checkout
	Old  string `json:"old"`  // must occur exactly once
	New  string `json:"new"`
	// Package and Run are the test that must fail, as go test takes them; for a file of the page the
	// test file below web and the name of the test, as vitest takes them.
	Package string `json:"package,omitempty"`
	Run     string `json:"run,omitempty"`
	// Equivalent is the reason why no test can detect the bug. Such a bug is not run.
	Equivalent string `json:"equivalent,omitempty"`
}

// readList reads the bugs of all files of a directory, in the order of the files' names.
func readList(dir string) ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var all []mutant
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var list []mutant
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, m := range list {
			if err := m.check(); err != nil {
				return nil, fmt.Errorf("%s: %q: %w", file, m.ID, err)
			}
			if seen[m.ID] {
				return nil, fmt.Errorf("%s: %q is there twice", file, m.ID)
			}
			seen[m.ID] = true
		}
		all = append(all, list...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no bugs in %s", dir)
	}
	return all, nil
}

// check returns an error for a missing member.
func (m *mutant) check() error {
	switch {
	case m.ID == "" || m.File == "" || m.Old == "":
		return errors.New("id, file and old are needed")
	case m.Old == m.New:
		return errors.New("old and new are the same")
	case !filepath.IsLocal(filepath.FromSlash(m.File)):
		return errors.New("the file is outside of the checkout")
	case m.Equivalent == "" && (m.Package == "" || m.Run == ""):
		return errors.New("package and run name the test that must fail; equivalent says why none can")
	}
	return nil
}
