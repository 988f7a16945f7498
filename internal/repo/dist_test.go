package repo

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestDist packs the command for this system as make dist does for every system. The checksums are correct, and the programs in the archive
// and in the Debian package work. scripts/lint type-checks the other systems.
func TestDist(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("scripts/dist needs a shell")
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "scripts/dist", dir, runtime.GOOS+"/"+runtime.GOARCH)
	cmd.Env = append(os.Environ(), "VERSION=9.8.7")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("scripts/dist: %v\n%s", err, out)
	}
	archive := "parley_9.8.7_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	want := []string{"SHA256SUMS", "parley.rb", archive}
	if runtime.GOOS == "linux" {
		processor := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
		want = append(want, "parley_9.8.7_"+runtime.GOARCH+".deb", "parley-9.8.7-1."+processor+".rpm")
	}
	checkSums(t, dir, want)
	if formula := string(readFile(t, filepath.Join(dir, "parley.rb"))); !strings.Contains(formula, "/v9.8.7/"+archive) || !strings.Contains(formula, sumOf(t, filepath.Join(dir, archive))) {
		t.Errorf("the formula does not install %s:\n%s", archive, formula)
	}
	t.Run("archive", func(t *testing.T) {
		root := t.TempDir()
		untar(t, filepath.Join(dir, archive), root)
		for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "completions/_parley", "completions/parley.bash", "completions/parley.fish", "man/parley.1", "man/parley-server.7"} {
			if len(readFile(t, filepath.Join(root, name))) == 0 {
				t.Errorf("%s is empty", name)
			}
		}
		checkNoPaths(t, filepath.Join(root, "parley"), dir)
		checkProgram(t, filepath.Join(root, "parley"))
	})
	t.Run("deb", func(t *testing.T) {
		dpkg, err := exec.LookPath("dpkg")
		if err != nil {
			t.Skip("there is no dpkg")
		}
		root := t.TempDir()
		cmd := exec.CommandContext(t.Context(), dpkg, "--force-not-root", "--root="+root, "--install", filepath.Join(dir, "parley_9.8.7_"+runtime.GOARCH+".deb"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("dpkg: %v\n%s", err, out)
		}
		if out, err := exec.CommandContext(t.Context(), dpkg, "--root="+root, "--verify", "parley").CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("dpkg --verify: %q, %v", out, err)
		}
		for _, name := range []string{"man/man1/parley.1.gz", "man/man7/parley-server.7.gz", "bash-completion/completions/parley", "doc/parley/copyright"} {
			if len(readFile(t, filepath.Join(root, "usr/share", name))) == 0 {
				t.Errorf("%s is empty", name)
			}
		}
		if unit := string(readFile(t, filepath.Join(root, "usr/lib/systemd/user/parley.service"))); !strings.Contains(unit, "ExecStart=/usr/bin/parley serve") {
			t.Errorf("the unit does not start the program of the package:\n%s", unit)
		}
		checkProgram(t, filepath.Join(root, "usr/bin/parley"))
	})
	t.Run("rpm", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("there is no package for " + runtime.GOOS)
		}
		names, err := filepath.Glob(filepath.Join(dir, "*.rpm"))
		if err != nil || len(names) != 1 {
			t.Fatalf("the packages are %q, %v", names, err)
		}
		payload := rpmPayload(t, readFile(t, names[0]))
		for _, name := range []string{"/usr/bin/parley\x00", "/usr/share/man/man1/parley.1.gz\x00", "/usr/share/zsh/site-functions/_parley\x00"} {
			if !bytes.Contains(payload, []byte(name)) {
				t.Errorf("the package has no %s", name)
			}
		}
	})
}

// rpmPayload returns the files of a package in the cpio format. They follow a lead and two headers,
// the first of which is padded.
func rpmPayload(t *testing.T, body []byte) []byte {
	t.Helper()
	if !bytes.HasPrefix(body, []byte("\xed\xab\xee\xdb")) {
		t.Fatalf("the package begins with %x", body[:4])
	}
	at := 96
	for range 2 {
		at = (at + 7) / 8 * 8
		if !bytes.HasPrefix(body[at:], []byte("\x8e\xad\xe8\x01")) {
			t.Fatalf("a header begins with %x", body[at:at+4])
		}
		entries, size := binary.BigEndian.Uint32(body[at+8:]), binary.BigEndian.Uint32(body[at+12:])
		at += 16 + 16*int(entries) + int(size)
	}
	r, err := gzip.NewReader(bytes.NewReader(body[at:]))
	if err != nil {
		t.Fatal(err)
	}
	payload, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// checkSums checks that a directory has these files, with the checksums of SHA256SUMS.
func checkSums(t *testing.T, dir string, want []string) {
	t.Helper()
	var got []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the files are %q, want %q", got, want)
	}
	var sums strings.Builder
	for _, name := range got {
		if name != "SHA256SUMS" {
			sums.WriteString(sumOf(t, filepath.Join(dir, name)) + "  " + name + "\n")
		}
	}
	if text := string(readFile(t, filepath.Join(dir, "SHA256SUMS"))); text != sums.String() {
		t.Errorf("SHA256SUMS has %q, want %q", text, sums.String())
	}
}

func sumOf(t *testing.T, path string) string {
	t.Helper()
	sum := sha256.Sum256(readFile(t, path))
	return hex.EncodeToString(sum[:])
}

// untar extracts an archive.
func untar(t *testing.T, archive, dir string) {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(readFile(t, archive)))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.Mkdir(path, 0o755)
		} else {
			body, readErr := io.ReadAll(r)
			err = errors.Join(readErr, os.WriteFile(path, body, h.FileInfo().Mode()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// checkNoPaths checks that a program contains no path of this machine.
func checkNoPaths(t *testing.T, path, dir string) {
	t.Helper()
	program := readFile(t, path)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{here, dir, filepath.Join(os.Getenv("HOME"), "go")} {
		if len(path) > 1 && bytes.Contains(program, []byte(path+"/")) {
			t.Errorf("the program holds the path %s", path)
		}
	}
}

// checkProgram runs an installed program: it has the stamped version, doctor finds that there is no agent, and a session with the simulated
// agent works.
func checkProgram(t *testing.T, path string) {
	t.Helper()
	home := t.TempDir()
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), path, args...)
		cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "PATH=" + home, "TMPDIR=" + home}
		out, err := cmd.Output()
		return string(out), err
	}
	var got struct{ Version, Commit, Go, OS, Arch string }
	out, err := run("version", "--json")
	if err != nil || json.Unmarshal([]byte(out), &got) != nil {
		t.Fatalf("parley version: %q, %v", out, err)
	}
	if got.Version != "9.8.7" || got.OS != runtime.GOOS || got.Arch != runtime.GOARCH || !strings.HasPrefix(got.Go, "go") {
		t.Errorf("the version is %+v", got)
	}
	head, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output()
	if err == nil && !strings.HasPrefix(got.Commit, strings.TrimSpace(string(head))) {
		t.Errorf("the commit is %q, want %q", got.Commit, head)
	}
	if out, err := run("doctor"); err == nil || !strings.Contains(out, "simulated agent") {
		t.Errorf("parley doctor: %v, want an error for the missing agent:\n%s", err, out)
	}
	if out, err := run("run", "--agent", "sim", "markdown"); err != nil || !strings.Contains(out, "Markdown") {
		t.Errorf("parley run: %v\n%s", err, out)
	}
}
