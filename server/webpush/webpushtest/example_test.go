package webpushtest_test

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/seed7221b0f9/parley/server/webpush"
	"github.com/seed7221b0f9/parley/server/webpush/webpushtest"
)

func ExampleBrowser_Open() {
	browser, err := webpushtest.NewBrowser("https://push.example.net/send/abc")
	if err != nil {
		panic(err)
	}
	key, err := webpush.NewKey()
	if err != nil {
		panic(err)
	}
	req, err := webpush.NewRequest(context.Background(), browser.Subscription(), webpush.Message{Payload: []byte("hello")}, key, time.Now())
	if err != nil {
		panic(err)
	}
	body, err := io.ReadAll(req.Body) // the body at the push service
	if err != nil {
		panic(err)
	}
	payload, err := browser.Open(req, body, key.Public(), "https://push.example.net", time.Now())
	fmt.Println(string(payload), err)
	// Output: hello <nil>
}
