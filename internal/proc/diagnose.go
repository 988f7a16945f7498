package proc

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// Diagnose explains why the program at path could not be started with err, and how to fix that. It examines
// the file. It returns "" if it finds no reason.
func Diagnose(path string, err error) string {
	d := diagnosis{goos: runtime.GOOS, goarch: runtime.GOARCH, exists: exists, libc: systemLibc}
	return d.diagnose(path, err)
}

// diagnosis implements Diagnose for any system.
type diagnosis struct {
	goos, goarch string
	exists       func(path string) bool
	libc         func() string
}

func (d diagnosis) diagnose(path string, err error) string {
	// These errors do not depend on the file.
	switch {
	case errors.Is(err, syscall.E2BIG):
		return "an argument, or arguments and environment together, are longer than the system allows"
	case errors.Is(err, syscall.EAGAIN):
		return "the limit of processes is reached"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "the limit of open files is reached"
	case errors.Is(err, syscall.ENOMEM):
		return "there is not enough memory"
	case errors.Is(err, syscall.ETXTBSY):
		return "the file is being written, perhaps by an update; try again"
	}
	if reason := d.mode(path); reason != "" {
		return reason
	}
	f, openErr := os.Open(path)
	if openErr != nil {
		return denied(err)
	}
	defer f.Close()
	if reason := d.content(f, err); reason != "" {
		return reason
	}
	return denied(err)
}

// mode checks the type and the permissions of the file.
func (d diagnosis) mode(path string) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "the file does not exist"
	case err != nil:
		return ""
	case info.IsDir():
		return "it is a directory, not a program"
	case d.goos != "windows" && !info.Mode().IsRegular():
		return "it is a pipe, a socket or a device, not a program"
	case d.goos != "windows" && info.Mode().Perm()&0o111 == 0:
		return fmt.Sprintf("the file is not executable; `chmod +x %s` makes it so", path)
	}
	return ""
}

func denied(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "the system does not permit to run it; its file system may be mounted noexec"
	}
	return ""
}

// content checks the first bytes.
func (d diagnosis) content(f *os.File, err error) string {
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	kind, foreign := binaryKind(head)
	switch {
	case n == 0:
		return "the file is empty"
	case bytes.HasPrefix(head, []byte("#!")):
		return d.script(head)
	case kind == "linux" && d.goos == "linux":
		return d.elf(f, err)
	case kind != "" && kind != d.goos:
		return "it is " + foreign + ", this system is " + d.goos
	case kind == "" && errors.Is(err, syscall.ENOEXEC):
		return "it is neither a program nor a script with a #! line"
	}
	return ""
}

// binaryKind returns the system that a program with these first bytes is for, and a description.
func binaryKind(head []byte) (goos, name string) {
	machO := []string{"\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"}
	for _, magic := range machO {
		if bytes.HasPrefix(head, []byte(magic)) {
			return "darwin", "a macOS program (Mach-O)"
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		return "linux", "a Linux program (ELF)"
	case bytes.HasPrefix(head, []byte("MZ")):
		return "windows", "a Windows program (PE)"
	}
	return "", ""
}

func (d diagnosis) script(head []byte) string {
	line, _, _ := bytes.Cut(head[len("#!"):], []byte("\n"))
	interpreter := strings.Trim(string(line), " \t")
	if i := strings.IndexAny(interpreter, " \t"); i >= 0 {
		interpreter = interpreter[:i]
	}
	if interpreter == "" || d.exists(interpreter) {
		return ""
	}
	if name, cut := strings.CutSuffix(interpreter, "\r"); cut {
		return fmt.Sprintf("the script has Windows line endings, so its interpreter is %q and not %s", interpreter, name)
	}
	return fmt.Sprintf("the script needs the interpreter %s, which does not exist", interpreter)
}

var machineArch = map[elf.Machine]string{
	elf.EM_X86_64: "amd64", elf.EM_386: "386", elf.EM_AARCH64: "arm64", elf.EM_ARM: "arm",
	elf.EM_RISCV: "riscv64", elf.EM_LOONGARCH: "loong64", elf.EM_S390: "s390x",
}

func (d diagnosis) elf(f *os.File, err error) string {
	file, elfErr := elf.NewFile(f)
	if elfErr != nil {
		return "the program file is damaged: " + elfErr.Error()
	}
	arch, known := machineArch[file.Machine]
	if !known {
		arch = file.Machine.String()
	}
	// A 64-bit kernel may run 32-bit programs, so only the loader can be missing.
	compatible := d.goarch == "amd64" && arch == "386" || d.goarch == "arm64" && arch == "arm"
	if knownArch(d.goarch) && arch != d.goarch && (!compatible || errors.Is(err, syscall.ENOEXEC)) {
		return fmt.Sprintf("the program is for %s, this system is %s", arch, d.goarch)
	}
	if loader := loaderOf(file); loader != "" && !d.exists(loader) {
		return d.loader(loader)
	}
	return ""
}

// knownArch reports whether the table has an architecture; otherwise a program is not called foreign.
func knownArch(goarch string) bool {
	for _, arch := range machineArch {
		if arch == goarch {
			return true
		}
	}
	return false
}

func loaderOf(file *elf.File) string {
	for _, p := range file.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		b, err := io.ReadAll(io.LimitReader(p.Open(), 4096))
		if err != nil {
			return ""
		}
		return string(bytes.TrimRight(b, "\x00"))
	}
	return ""
}

func (d diagnosis) loader(loader string) string {
	reason := fmt.Sprintf("the binary needs the loader %s, which this system does not have", loader)
	built, here := libcOf(loader), d.libc()
	if built == "" || here == "" || built == here {
		return reason
	}
	return fmt.Sprintf("%s: it was built for %s, this system is %s; install the package for this libc", reason, built, here)
}

func libcOf(loader string) string {
	switch base := filepath.Base(loader); {
	case strings.HasPrefix(base, "ld-musl"):
		return "musl"
	case strings.HasPrefix(base, "ld-linux"), strings.HasPrefix(base, "ld64"), base == "ld.so.1":
		return "glibc"
	}
	return ""
}

// systemLibc determines the libc from the existing loaders. A system with both counts as glibc, because
// musl is usually the additional one.
func systemLibc() string {
	for _, pattern := range []string{"/lib64/ld-linux*", "/lib/ld-linux*", "/lib64/ld64*", "/lib/ld64*"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return "glibc"
		}
	}
	if found, _ := filepath.Glob("/lib/ld-musl-*"); len(found) > 0 {
		return "musl"
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
