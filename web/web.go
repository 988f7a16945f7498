// Package web holds the page of the session server, as it was built into dist/page.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed all:dist/page
var dist embed.FS

// Worker is the path of the page's service worker, which shows push messages and keeps the files of the page. Its scope is the
// directory of the page, because the server does not widen it.
const Worker = "sw.js"

// Handler serves the page. Files are compressed once, on the first request, for clients that accept
// gzip. Browsers cache files with a hash in their name forever, and revalidate all others. It is
// safe for concurrent use.
func Handler() http.Handler { return handler{} }

// file is a file of the page, ready to be sent.
type file struct {
	data, gzip []byte
	tag, kind  string
}

// files are all files of the page by their path.
var files = sync.OnceValue(func() map[string]*file {
	all := map[string]*file{}
	root, err := fs.Sub(dist, "dist/page")
	if err == nil {
		err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := fs.ReadFile(root, name)
			if err == nil {
				all[name] = prepare(name, data)
			}
			return err
		})
	}
	if err != nil { // the directory is embedded
		panic(err)
	}
	return all
})

func prepare(name string, data []byte) *file {
	sum := sha256.Sum256(data)
	f := &file{data: data, kind: contentType(name), tag: hex.EncodeToString(sum[:8])}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, _ = w.Write(data)                                  // memory takes everything
	_ = w.Close()
	if b.Len() < len(data) {
		f.gzip = b.Bytes()
	}
	return f
}

type handler struct{}

// ServeHTTP serves a file. The page keeps its places after the # of its address, so a path
// without a file is not found; a path without a final slash inside is the page too.
func (handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if name == "" || name == "." {
		name = "index.html"
	}
	f := files()[name]
	if f == nil {
		http.NotFound(w, r)
		return
	}
	header := w.Header()
	header.Set("Content-Type", f.kind)
	header.Set("Vary", "Accept-Encoding")
	data, tag := f.data, f.tag
	if f.gzip != nil && accepts(r, "gzip") {
		header.Set("Content-Encoding", "gzip")
		data, tag = f.gzip, f.tag+"-gzip"
	}
	header.Set("ETag", `"`+tag+`"`)
	if strings.HasPrefix(name, "assets/") {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		header.Set("Cache-Control", "no-cache")
	}
	if r.Header.Get("If-None-Match") == `"`+tag+`"` {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(data) // a client that is gone is not a fault
}

// accepts reports whether a client takes an encoding.
func accepts(r *http.Request, encoding string) bool {
	for _, part := range strings.Split(strings.Join(r.Header["Accept-Encoding"], ","), ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), encoding) {
			params = strings.TrimRight(strings.ReplaceAll(params, " ", ""), "0")
			return params != "q=" && params != "q=0." && params != "q=."
		}
	}
	return false
}

// contentType is the type of a file by its name, whatever the machine's own table says.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".webmanifest":
		return "application/manifest+json"
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}
