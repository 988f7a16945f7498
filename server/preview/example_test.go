package preview_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/seed7221b0f9/parley/server/preview"
)

func Example() {
	dev := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "shown to ", r.Host) }))
	defer dev.Close()
	origins, _ := preview.ParseOrigins("http://*.localhost:7718")
	proxy := preview.New(preview.Options{
		Origins: origins,
		Dial: func(ctx context.Context, session string, port int) (net.Conn, error) { // a real one checks the owner of the port
			return (&net.Dialer{}).DialContext(ctx, "tcp", dev.Listener.Addr().String())
		},
	})
	defer proxy.Close()
	address, _ := proxy.Open("alice", "s-1", 5173)
	u, _ := url.Parse(address)
	fmt.Println(strings.HasSuffix(u.Host, ".localhost:7718"))

	// A browser follows the address and gets a cookie.
	entered := httptest.NewRecorder()
	proxy.ServeHTTP(entered, httptest.NewRequest(http.MethodGet, address, nil))
	page := httptest.NewRequest(http.MethodGet, "http://"+u.Host+"/", nil)
	page.AddCookie(entered.Result().Cookies()[0])
	shown := httptest.NewRecorder()
	proxy.ServeHTTP(shown, page)
	fmt.Println(entered.Code, shown.Code, shown.Body)
	// Output:
	// true
	// 303 200 shown to localhost:5173
}
