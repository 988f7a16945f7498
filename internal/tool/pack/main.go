// Pack makes what people install from the programs of scripts/dist: archives for each system, packages for Debian and Fedora and their
// relatives, a Homebrew formula, and checksums. The same input gives the same bytes.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// release describes the packed program.
type release struct {
	version string
	made    time.Time
	out     string
	share   []file // what all programs have in common
}

// file is one file of a package or an archive.
type file struct {
	name string // relative, with slashes
	mode int64
	body []byte
}

// program is the command for one system.
type program struct {
	os, arch string
	body     []byte
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("pack: ")
	var r release
	flag.StringVar(&r.version, "version", "", "version of the release")
	programs := flag.String("programs", "", "directory with the programs, each named OS_ARCH")
	share := flag.String("share", "", "directory with documents, completions and manual pages")
	seconds := flag.Int64("time", 0, "time of all files, in seconds since 1970")
	flag.StringVar(&r.out, "out", "", "directory for the result")
	flag.Parse()
	r.made = time.Unix(*seconds, 0).UTC()
	if err := r.run(*programs, *share); err != nil {
		log.Fatal(err)
	}
}

// run writes all files of a release.
func (r *release) run(programs, share string) error {
	var err error
	if r.share, err = readTree(share); err != nil {
		return err
	}
	list, err := readTree(programs)
	if err != nil {
		return err
	}
	written := map[string][]byte{}
	for _, f := range list {
		p := program{body: f.body}
		p.os, p.arch, _ = strings.Cut(f.name, "_")
		made, err := r.pack(p)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		for name, body := range made {
			written[name] = body
		}
	}
	if f := r.formula(written); f != nil {
		written["parley.rb"] = f
	}
	written["SHA256SUMS"] = checksums(written)
	for _, name := range sortedNames(written) {
		if err := os.WriteFile(filepath.Join(r.out, name), written[name], 0o644); err != nil {
			return err
		}
		fmt.Println(name)
	}
	return nil
}

// pack returns the files of a release for one system, by name.
func (r *release) pack(p program) (map[string][]byte, error) {
	name := fmt.Sprintf("parley_%s_%s_%s", r.version, p.os, p.arch)
	if p.os == "windows" {
		body, err := r.zip(p)
		return map[string][]byte{name + ".zip": body}, err
	}
	out := map[string][]byte{}
	body, err := r.tarGz(append([]file{{"parley", 0o755, p.body}}, r.share...))
	if err != nil {
		return nil, err
	}
	out[name+".tar.gz"] = body
	if p.os != "linux" {
		return out, nil
	}
	installed := r.installed(p)
	if out[fmt.Sprintf("parley_%s_%s.deb", r.version, p.arch)], err = r.deb(p, installed); err != nil {
		return nil, err
	}
	out[fmt.Sprintf("parley-%s-1.%s.rpm", r.version, rpmArch[p.arch])], err = r.rpm(p, installed)
	return out, err
}

// checksums returns the text that sha256sum -c reads.
func checksums(files map[string][]byte) []byte {
	var text strings.Builder
	for _, name := range sortedNames(files) {
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	return []byte(text.String())
}

func sortedNames(files map[string][]byte) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
