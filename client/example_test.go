package client_test

import (
	"context"
	"fmt"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

// Follow a session; lost connections are restored. The view is the state for a screen.
func ExampleClient_Follow() {
	ctx := context.Background()
	c, err := client.New(client.Options{URL: "http://127.0.0.1:7717/#token=pt_…"})
	if err != nil {
		fmt.Println(err)
		return
	}
	var view client.View
	for ev, err := range c.Follow(ctx, "s-1", nil) {
		if err == nil {
			err = view.Apply(ev)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(view.Conversation.State)
	}
}

// A call with an idempotency key can be retried: it is executed once.
func ExampleClient_Call() {
	c, err := client.New(client.Options{URL: "http://127.0.0.1:7717", Token: "pt_…"})
	if err != nil {
		fmt.Println(err)
		return
	}
	params := api.QueryParams{SessionID: "s-1", Text: "Fix the build.", Idempotency: api.Idempotency{Key: client.Key()}}
	var accepted api.Accepted
	if err := c.Call(context.Background(), "session.query", params, &accepted); client.Reason(err) == api.SessionExpired {
		fmt.Println("the session is gone")
	}
}

// Read the metrics of a server in the Prometheus format.
func ExampleClient_Metrics() {
	c, err := client.New(client.Options{URL: "http://127.0.0.1:7717", Token: "pt_…"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if text, err := c.Metrics(context.Background()); err == nil {
		fmt.Println(len(text), "bytes from", c.URL())
	}
}
