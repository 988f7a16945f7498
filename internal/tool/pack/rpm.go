package main

import (
	"bytes"
	"strings"

	"github.com/google/rpmpack"
)

// rpmArch maps Go's names of processors to those of Fedora.
var rpmArch = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// rpm returns a package for Fedora and its relatives.
func (r *release) rpm(p program, files []file) ([]byte, error) {
	meta := rpmpack.RPMMetaData{Name: "parley", Version: r.version, Release: "1", Arch: rpmArch[p.arch], OS: "linux", Summary: summary, Description: about,
		URL: homepage, Licence: "Apache-2.0", BuildHost: "localhost", BuildTime: r.made, Compressor: "gzip"}
	if err := meta.Recommends.Set("git"); err != nil {
		return nil, err
	}
	if err := meta.Suggests.Set("bubblewrap"); err != nil {
		return nil, err
	}
	pkg, err := rpmpack.NewRPM(meta)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		name := strings.Replace(f.name, "zsh/vendor-completions", "zsh/site-functions", 1) // the directory of Fedora
		pkg.AddFile(rpmpack.RPMFile{Name: "/" + name, Body: f.body, Mode: uint(0o100000 | f.mode), Owner: "root", Group: "root", MTime: uint32(r.made.Unix())})
	}
	var b bytes.Buffer
	err = pkg.Write(&b)
	return b.Bytes(), err
}
