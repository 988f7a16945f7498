package cluster_test

import (
	"context"
	"fmt"
	"os"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/cluster"
)

// Join a server to a cluster. The data directory stores the name of the server. All servers have the same secret file.
func Example() {
	ctx := context.Background()
	store, err := eventlog.Open(ctx, &eventlog.Options{URL: "nats://a:4222,nats://b:4222,nats://c:4222", Replicas: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	key, err := os.ReadFile("/etc/parley/secret")
	if err != nil {
		fmt.Println(err)
		return
	}
	node, err := cluster.NodeID("/var/lib/parley")
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := cluster.Open(ctx, cluster.Options{Store: store, Node: node, Key: key})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close() // after the server with Options.Cluster: c
}
