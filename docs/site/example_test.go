package site_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/seed7221b0f9/parley/docs/site"
)

func ExampleHandler() {
	mux := http.NewServeMux()
	mux.Handle("/docs/", site.Handler("/docs/"))
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/docs/guide/permissions.html", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}

func ExampleWrite() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := site.Write(dir); err != nil {
		fmt.Println(err)
	}
	_, err = os.Stat(filepath.Join(dir, "guide", "permissions.html"))
	fmt.Println(err)
	// Output: <nil>
}
