package s3_test

import (
	"context"
	"log"
	"os"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claudestore/s3"
)

func ExampleOpen() {
	ctx := context.Background()
	store, err := s3.Open(ctx, s3.Config{
		Endpoint: "https://s3.eu-central-1.amazonaws.com", Region: "eu-central-1", Bucket: "agents", Prefix: "sessions",
		Credentials: s3.Credentials{AccessKey: os.Getenv("AWS_ACCESS_KEY_ID"), SecretKey: os.Getenv("AWS_SECRET_ACCESS_KEY")},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := claude.Run(ctx, "What is new?", &claude.Options{SessionStore: store, Continue: true}); err != nil {
		log.Fatal(err)
	}
}
