package postgres_test

import (
	"context"
	"log"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore/postgres"
)

func ExampleOpen() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	store, err := postgres.Open(ctx, pool, "agents")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := claude.Run(ctx, "What is new?", &claude.Options{SessionStore: store, Continue: true}); err != nil {
		log.Fatal(err)
	}
}
