package web_test

import (
	"fmt"
	"net/http/httptest"

	"github.com/seed7221b0f9/parley/web"
)

func ExampleHandler() {
	w := httptest.NewRecorder()
	web.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}
