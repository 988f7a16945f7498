package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/web"
)

func get(t *testing.T, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest("GET", path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	web.Handler().ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r io.Reader) string {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The page has no inline script or style and no address of another host, and what it
// names is there.
func TestPage(t *testing.T) {
	index := body(t, get(t, "/").Body)
	for _, bad := range []string{"<style", " style=", "onload=", "http:", "https:", "//"} {
		if strings.Contains(index, bad) {
			t.Errorf("the page has %q:\n%s", bad, index)
		}
	}
	if regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(index) {
		t.Errorf("the page has an inline script:\n%s", index)
	}
	names := regexp.MustCompile(`(?:src|href)="\./([^"]+)"`).FindAllStringSubmatch(index, -1)
	if len(names) < 2 {
		t.Fatalf("the page names %d files:\n%s", len(names), index)
	}
	for _, name := range names {
		r := get(t, "/"+name[1])
		if r.StatusCode != http.StatusOK || strings.Contains(r.Header.Get("Cache-Control"), "immutable") != strings.HasPrefix(name[1], "assets/") {
			t.Errorf("%s: %s, %s; want r.StatusCode == http.StatusOK and strings.Contains(r.Header.Get(\"Cache-Control\"), \"immutable\") == strings.HasPrefix(name[1], \"assets/\")", name[1], r.Status, r.Header.Get("Cache-Control"))
		}
	}
}

// Clients that take gzip get it, others the file itself, and both the same text.
func TestCompression(t *testing.T) {
	plain := get(t, "/")
	packed := get(t, "/", "Accept-Encoding", "br, gzip;q=0.8")
	refused := get(t, "/", "Accept-Encoding", "gzip;q=0")
	if plain.Header.Get("Content-Encoding") != "" || refused.Header.Get("Content-Encoding") != "" || packed.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("plain.Header is %v, packed.Header is %v, refused.Header is %v; want plain.Header.Get(\"Content-Encoding\") == \"\" and refused.Header.Get(\"Content-Encoding\") == \"\" and packed.Header.Get(\"Content-Encoding\") == \"gzip\"", plain.Header, packed.Header, refused.Header)
	}
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if want := body(t, plain.Body); body(t, z) != want || body(t, refused.Body) != want {
		t.Error("the texts differ")
	}
	again := get(t, "/", "If-None-Match", plain.Header.Get("ETag"))
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("again.Status is %v; want again.StatusCode == http.StatusNotModified", again.Status)
	}
}

func TestNotFound(t *testing.T) {
	for _, path := range []string{"/assets/none.js", "/../web.go", "/fold.mjs", "/s/x"} {
		if r := get(t, path); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s; want r.StatusCode == http.StatusNotFound", path, r.Status)
		}
	}
}

// TestFirstLoad checks the size of the files that a browser fetches before it shows the page.
func TestFirstLoad(t *testing.T) {
	size := func(path string) int {
		return len(body(t, get(t, path, "Accept-Encoding", "gzip").Body))
	}
	total := size("/")
	for _, name := range regexp.MustCompile(`(?:src|href)="\./(assets/[^"]+\.(?:js|css))"`).FindAllStringSubmatch(body(t, get(t, "/").Body), -1) {
		total += size("/" + name[1])
	}
	if total < 50_000 || total >= 160_000 {
		t.Errorf("the first load has %d bytes", total)
	}
}
