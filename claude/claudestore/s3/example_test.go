package s3_test

import (
	"context"
	"log"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore/s3"
)

// Without Config.AWS the AWS SDK finds the credentials and the region: in the
// environment, in ~/.aws, or from the role of the machine.
func ExampleOpen() {
	ctx := context.Background()
	store, err := s3.Open(ctx, s3.Config{Bucket: "agents", Prefix: "sessions", Region: "eu-central-1"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := claude.Run(ctx, "What is new?", &claude.Options{SessionStore: store, Continue: true}); err != nil {
		log.Fatal(err)
	}
}
