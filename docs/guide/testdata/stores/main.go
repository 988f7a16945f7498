package main

import (
	"context"
	"errors"
	"fmt"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
	"github.com/seed7221b0f9/parley/claude/claudestore/postgres"
	"github.com/seed7221b0f9/parley/claude/claudestore/s3"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"log"
	"os"
	"testing"
)

func main() {
	ctx := context.Background()
	place, err := os.MkdirTemp("", "sessions-") // /var/lib/agents/sessions, say
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(place)
	store, err := claudestore.NewDir(place)
	if err != nil {
		log.Fatal(err)
	}
	first, err := claude.Run(ctx, "The word is heron.", &claude.Options{SessionStore: store})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := goOn(ctx, store, first.SessionID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
}

func goOn(ctx context.Context, store claude.SessionStore, id string) (string, error) {
	result, err := claude.Run(ctx, "What was the word?", &claude.Options{SessionStore: store, Resume: id})
	var busy *claude.SessionBusyError
	if errors.As(err, &busy) {
		return "", fmt.Errorf("process %d has had the session since %v", busy.PID, busy.Since)
	}
	if err != nil {
		return "", err
	}
	return result.Result, nil
}

func shared(ctx context.Context) (claude.SessionStore, error) {
	if os.Getenv("DATABASE_URL") == "" {
		return s3.Open(ctx, s3.Config{Bucket: "agents", Prefix: "sessions", Region: "eu-central-1"})
	}
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return nil, err
	}
	return postgres.Open(ctx, pool, "agents")
}

func TestMyStore(t *testing.T) {
	claudetest.TestSessionStore(t, func(t *testing.T) claude.SessionStore { return claudestore.NewMemory() })
}
