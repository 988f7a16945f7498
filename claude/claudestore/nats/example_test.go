package nats_test

import (
	"context"
	"log"
	"os"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore/nats"
)

func ExampleOpen() {
	ctx := context.Background()
	connection, err := natsgo.Connect(os.Getenv("NATS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	js, err := jetstream.New(connection)
	if err != nil {
		log.Fatal(err)
	}
	store, err := nats.Open(ctx, js, nats.Options{Replicas: 3})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := claude.Run(ctx, "What is new?", &claude.Options{SessionStore: store, Continue: true}); err != nil {
		log.Fatal(err)
	}
}
