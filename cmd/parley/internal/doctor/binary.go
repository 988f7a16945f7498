package doctor

import (
	"bytes"
	"debug/elf"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// binary checks the kind of the file, and whether this system can run it.
func (p Patient) binary(path string) Check {
	if reason := proc.Diagnose(path, nil); reason != "" {
		return Check{"binary", Fail, reason, "install the CLI for " + runtime.GOOS + "/" + runtime.GOARCH + ": " + install}
	}
	return Check{"binary", OK, describe(path), ""}
}

// describe returns the kind of a program file.
func describe(path string) string {
	f, err := regularfile.Open(path)
	if err != nil {
		return "cannot be read, which does no harm"
	}
	defer f.Close()
	if line := shebang(f); line != "" {
		return "a script for " + line
	}
	if isScript(path) {
		return "a script"
	}
	file, err := elf.NewFile(f)
	if err != nil {
		return "a program"
	}
	return "for " + strings.ToLower(strings.TrimPrefix(file.Machine.String(), "EM_")) + ", " + libc(file)
}

// libc returns the C library that a program needs, from its loader.
func libc(file *elf.File) string {
	for _, part := range file.Progs {
		if part.Type != elf.PT_INTERP {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(part.Open(), 4096))
		if err != nil {
			break
		}
		loader := string(bytes.TrimRight(text, "\x00"))
		switch base := filepath.Base(loader); {
		case strings.HasPrefix(base, "ld-musl"):
			return "musl (" + loader + ")"
		case strings.HasPrefix(base, "ld-linux"), strings.HasPrefix(base, "ld64"):
			return "glibc (" + loader + ")"
		}
		return loader
	}
	return "statically linked"
}

// shebang returns the interpreter in the first line of a script, or "".
func shebang(f *os.File) string {
	head := make([]byte, 256)
	n, _ := f.ReadAt(head, 0)
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return ""
	}
	return strings.TrimSpace(string(rest))
}

func isScript(path string) bool {
	return slices.Contains([]string{".js", ".mjs", ".ts", ".tsx", ".jsx"}, filepath.Ext(path))
}

// runtime checks for node if the CLI is a script for it.
func (p Patient) runtime(path string) (Check, bool) {
	needs := isScript(path)
	if f, err := regularfile.Open(path); err == nil {
		needs = needs || strings.Contains(shebang(f), "node")
		f.Close()
	}
	if !needs {
		return Check{}, false
	}
	node, err := proc.Find("node", p.Env)
	if err != nil {
		return Check{"node", Fail, "the CLI is a script for node, which is not on PATH", "install Node.js 18 or later"}, true
	}
	return Check{"node", OK, node, ""}, true
}
