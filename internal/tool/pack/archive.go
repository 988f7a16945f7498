package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"path"
	"slices"
	"strings"
)

// tarGz returns an archive with files and the directories around them.
func (r *release) tarGz(files []file) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, dir := range directories(files) {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: r.made, Uname: "root", Gname: "root"}); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.body)), ModTime: r.made, Uname: "root", Gname: "root"}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.body); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return compressed(b.Bytes()), nil
}

// directories returns the directories of files, outer ones first.
func directories(files []file) []string {
	var list []string
	for _, f := range files {
		for dir := path.Dir(f.name); dir != "." && dir != "/"; dir = path.Dir(dir) {
			list = append(list, dir)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// zip returns the archive for Windows, with its line ends as they are.
func (r *release) zip(p program) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range append([]file{{"parley.exe", 0o755, p.body}}, r.share...) {
		if strings.HasPrefix(f.name, "man/") || strings.HasPrefix(f.name, "systemd/") {
			continue // Windows has neither
		}
		to, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.made})
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(f.body); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
