// Package natstest runs NATS servers inside a test process.
package natstest

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Server starts a server with JetStream on loopback until the end of the test.
func Server(t testing.TB, opts *server.Options) *server.Server {
	t.Helper()
	opts.Host, opts.NoSigs, opts.NoLog, opts.JetStream = "127.0.0.1", true, true, true
	if opts.Port == 0 {
		opts.Port = server.RANDOM_PORT
	}
	if opts.StoreDir == "" {
		opts.StoreDir = t.TempDir()
	}
	if opts.JetStreamMaxStore == 0 {
		opts.JetStreamMaxStore = 1 << 40 // the default is a part of the free disk space
	}
	srv, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	if !srv.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server does not start")
	}
	return srv
}

// Cluster starts a cluster of servers and waits until they have elected a leader.
func Cluster(t testing.TB, n int) []*server.Server {
	t.Helper()
	ports := make([]int, n) // every server has to know all others when it starts
	var routes []*url.URL
	for i := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ports[i] = listener.Addr().(*net.TCPAddr).Port
		routes = append(routes, &url.URL{Scheme: "nats", Host: listener.Addr().String()})
		listener.Close()
	}
	var servers []*server.Server
	for i := range n {
		servers = append(servers, Server(t, &server.Options{
			ServerName: fmt.Sprint("n", i), Routes: routes, SyncAlways: true,
			Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: ports[i], PoolSize: -1},
		}))
	}
	deadline := time.NewTimer(2 * time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, srv := range servers {
			if srv.JetStreamIsLeader() && len(srv.JetStreamClusterPeers()) == n {
				return servers
			}
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatal("the cluster has no leader")
		}
	}
}

// URL returns the addresses of servers for a client.
func URL(servers ...*server.Server) string {
	var urls []string
	for _, srv := range servers {
		urls = append(urls, srv.ClientURL())
	}
	return strings.Join(urls, ",")
}
