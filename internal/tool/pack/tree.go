package main

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// readTree returns the files below a directory in the order of their names.
func readTree(dir string) ([]file, error) {
	var list []file
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(filepath.Join(dir, name))
		list = append(list, file{name, 0o644, body})
		return err
	})
	return list, err
}

// places maps prefixes of names in an archive to paths on a Linux system. A path that ends with a slash is a directory,
// and the file keeps its base name.
var places = []struct{ in, at string }{
	{"completions/parley.bash", "usr/share/bash-completion/completions/parley"},
	{"completions/_parley", "usr/share/zsh/vendor-completions/_parley"},
	{"completions/parley.fish", "usr/share/fish/vendor_completions.d/parley.fish"},
	{"man/", "usr/share/man/"},
	{"systemd/user/", "usr/lib/systemd/user/"},
	{"LICENSE", "usr/share/doc/parley/copyright"},
	{"CHANGELOG.md", "usr/share/doc/parley/CHANGELOG.md"},
}

// installed returns the files of a program on a Linux system.
func (r *release) installed(p program) []file {
	list := []file{{"usr/bin/parley", 0o755, p.body}}
	for _, f := range r.share {
		for _, place := range places {
			if !strings.HasPrefix(f.name, place.in) {
				continue
			}
			to := file{place.at, f.mode, f.body}
			if strings.HasSuffix(place.at, "/") {
				to.name += path.Base(f.name)
			}
			if place.in == "man/" {
				section := strings.TrimPrefix(path.Ext(f.name), ".")
				to.name, to.body = place.at+"man"+section+"/"+path.Base(f.name)+".gz", compressed(f.body)
			}
			list = append(list, to)
		}
	}
	return list
}

// compressed returns a text as gzip writes it, without a name and a time.
func compressed(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, _ = w.Write(text)                                  // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}
