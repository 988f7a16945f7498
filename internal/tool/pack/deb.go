package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"strings"
)

// Texts of both kinds of packages.
const (
	homepage = "https://github.com/seed7221b0f9/parley"
	summary  = "session server, web page and terminal for coding agents"
	about    = "Parley runs Claude Code, Codex and agents that speak the Agent Client Protocol, keeps their sessions, and shows them in a web page, a terminal and editors."
)

// deb returns a package for Debian: an archive of a version, a control archive and the files.
func (r *release) deb(p program, files []file) ([]byte, error) {
	data, err := r.tarGz(files)
	if err != nil {
		return nil, err
	}
	control, err := r.tarGz([]file{{"control", 0o644, r.debControl(p, files)}, {"md5sums", 0o644, md5sums(files)}})
	if err != nil {
		return nil, err
	}
	b := bytes.NewBufferString("!<arch>\n")
	for _, part := range []file{{"debian-binary", 0o644, []byte("2.0\n")}, {"control.tar.gz", 0o644, control}, {"data.tar.gz", 0o644, data}} {
		fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", part.name, r.made.Unix(), 0, 0, 0o100000|part.mode, len(part.body))
		b.Write(part.body)
		if b.Len()%2 == 1 {
			b.WriteByte('\n') // parts begin at even places
		}
	}
	return b.Bytes(), nil
}

// debControl returns the description of a package. The program is static and needs no other package; agents need git, and boxes bubblewrap.
func (r *release) debControl(p program, files []file) []byte {
	size := 0
	for _, f := range files {
		size += (len(f.body) + 1023) / 1024
	}
	return fmt.Appendf(nil, `Package: parley
Version: %s
Architecture: %s
Maintainer: Parley <%s>
Installed-Size: %d
Recommends: git
Suggests: bubblewrap
Section: devel
Priority: optional
Homepage: %s
Description: %s
 %s
`, r.version, p.arch, homepage, size, homepage, summary, about)
}

// md5sums returns the checksums for dpkg --verify.
func md5sums(files []file) []byte {
	var text strings.Builder
	for _, f := range files {
		fmt.Fprintf(&text, "%x  %s\n", md5.Sum(f.body), f.name)
	}
	return []byte(text.String())
}
