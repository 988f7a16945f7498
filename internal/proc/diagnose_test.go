//go:build linux || darwin

package proc

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/spawn"
)

// elfFile returns an ELF file with only the parts that the kernel and Diagnose read.
func elfFile(machine elf.Machine, loader string) []byte {
	h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(machine), Version: 1, Ehsize: 64, Phentsize: 56, Shentsize: 64}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)
	h.Ident[elf.EI_VERSION] = byte(elf.EV_CURRENT)
	var b bytes.Buffer
	if loader == "" {
		_ = binary.Write(&b, binary.LittleEndian, h)
		return b.Bytes()
	}
	h.Phoff, h.Phnum = 64, 1
	size := uint64(len(loader) + 1)
	p := elf.Prog64{Type: uint32(elf.PT_INTERP), Flags: uint32(elf.PF_R), Off: 64 + 56, Filesz: size, Memsz: size, Align: 1}
	_ = binary.Write(&b, binary.LittleEndian, h)
	_ = binary.Write(&b, binary.LittleEndian, p)
	b.WriteString(loader + "\x00")
	return b.Bytes()
}

func TestDiagnose(t *testing.T) {
	const musl, glibc = "/lib/ld-musl-x86_64.so.1", "/lib64/ld-linux-x86-64.so.2"
	tests := map[string]struct {
		content []byte
		mode    fs.FileMode
		err     error
		libc    string
		want    string
	}{
		"not executable":   {[]byte("x"), 0o644, syscall.EACCES, "", "not executable; `chmod +x "},
		"noexec":           {[]byte("#!/bin/sh\n"), 0o755, syscall.EACCES, "", "mounted noexec"},
		"empty":            {nil, 0o755, syscall.ENOEXEC, "", "the file is empty"},
		"text":             {[]byte("console.log(1)"), 0o755, syscall.ENOEXEC, "", "neither a program nor a script"},
		"interpreter":      {[]byte("#! /opt/node/bin/node --x\n"), 0o755, syscall.ENOENT, "", "needs the interpreter /opt/node/bin/node, which"},
		"line endings":     {[]byte("#!/bin/sh\r\n"), 0o755, syscall.ENOENT, "", "Windows line endings"},
		"architecture":     {elfFile(elf.EM_AARCH64, musl), 0o755, syscall.ENOEXEC, "glibc", "the program is for arm64, this system is amd64"},
		"odd architecture": {elfFile(elf.EM_SPARCV9, ""), 0o755, syscall.ENOEXEC, "glibc", "is for EM_SPARCV9, this"},
		"32 bits":          {elfFile(elf.EM_386, ""), 0o755, syscall.ENOEXEC, "glibc", "is for 386, this"},
		"32 bits loader":   {elfFile(elf.EM_386, "/lib/ld-linux.so.2"), 0o755, syscall.ENOENT, "glibc", "needs the loader /lib/ld-linux.so.2"},
		"musl": {elfFile(elf.EM_X86_64, musl), 0o755, syscall.ENOENT, "glibc", "the binary needs the loader /lib/ld-musl-x86_64.so.1, " +
			"which this system does not have: it was built for musl, this system is glibc; install the package for this libc"},
		"glibc":     {elfFile(elf.EM_X86_64, glibc), 0o755, syscall.ENOENT, "musl", "it was built for glibc, this system is musl"},
		"no libc":   {elfFile(elf.EM_X86_64, "/x/ld.so"), 0o755, syscall.ENOENT, "glibc", "the loader /x/ld.so, which this system does not have"},
		"damaged":   {[]byte(elf.ELFMAG), 0o755, syscall.ENOEXEC, "", "damaged"},
		"Mach-O":    {[]byte("\xcf\xfa\xed\xfe...."), 0o755, syscall.ENOEXEC, "", "a macOS program (Mach-O), this system is linux"},
		"universal": {[]byte("\xca\xfe\xba\xbe...."), 0o755, syscall.ENOEXEC, "", "a macOS program"},
		"PE":        {[]byte("MZ\x90\x00"), 0o755, syscall.ENOEXEC, "", "a Windows program (PE)"},
		"arguments": {nil, 0o755, syscall.E2BIG, "", "longer than the system allows"},
		"update":    {nil, 0o755, syscall.ETXTBSY, "", "being written"},
		"processes": {nil, 0o755, syscall.EAGAIN, "", "limit of processes"},
		"files":     {nil, 0o755, syscall.EMFILE, "", "limit of open files"},
		"memory":    {nil, 0o755, syscall.ENOMEM, "", "memory"},
		"no idea":   {[]byte("#!/bin/sh\n"), 0o755, syscall.EIO, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "claude")
			if err := os.WriteFile(path, test.content, test.mode); err != nil {
				t.Fatal(err)
			}
			d := diagnosis{"linux", "amd64", func(p string) bool { return p == "/bin/sh" }, func() string { return test.libc }}
			got := d.diagnose(path, &fs.PathError{Op: "fork/exec", Path: path, Err: test.err})
			if !strings.Contains(got, test.want) || test.want == "" && got != "" {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestStartFails checks the whole path: the system refuses, and the error has the reason.
func TestStartFails(t *testing.T) {
	census(t)
	dir := t.TempDir()
	write := func(name string, content []byte, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain", nil, 0o644)
	script := write("script", []byte("#!/no/such/interpreter\n"), 0o755)
	sh := spawn.Command{Path: "/bin/sh"}
	in := func(cmd spawn.Command, dir string) spawn.Command { cmd.Dir = dir; return cmd }
	tests := map[string]struct {
		cmd  spawn.Command
		want string
		is   error
	}{
		"missing":           {spawn.Command{Path: dir + "/none"}, "the file does not exist", fs.ErrNotExist},
		"unnamed":           {spawn.Command{}, "no program is named", nil},
		"directory":         {spawn.Command{Path: dir}, "is a directory", fs.ErrPermission},
		"not executable":    {spawn.Command{Path: plain}, "not executable", fs.ErrPermission},
		"interpreter":       {spawn.Command{Path: script}, "the interpreter /no/such/interpreter", fs.ErrNotExist},
		"working directory": {in(sh, dir+"/none"), "the working directory " + dir + "/none does not exist", fs.ErrNotExist},
		"no directory":      {in(sh, plain), "the working directory " + plain + " is not a directory", nil},
		"long argument":     {spawn.Command{Path: "/bin/sh", Args: []string{strings.Repeat("x", 4<<20)}}, "longer than the system allows", syscall.E2BIG},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Start(context.Background(), test.cmd, Options{})
			start, ok := errors.AsType[*StartError](err)
			if !ok || !strings.Contains(err.Error(), test.want) || start.Path != test.cmd.Path || start.Dir != test.cmd.Dir {
				t.Fatalf("Start: %v, want %q", err, test.want)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v is not %v", err, test.is)
			}
		})
	}
}

// A named pipe in place of a program is reported and does not block; one among the records
// of a registry is skipped.
func TestDiagnose_pipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, childPrefix+"1.json")
	if err := syscall.Mkfifo(pipe, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := Diagnose(pipe, syscall.EACCES); !strings.Contains(got, "a pipe") {
		t.Errorf("a pipe: %q", got)
	}
	if got := readChildren(dir); len(got) > 0 {
		t.Errorf("a pipe is the record of %v", got)
	}
}
