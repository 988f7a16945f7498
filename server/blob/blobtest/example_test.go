package blobtest_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/server/blob"
	"github.com/seed7221b0f9/parley/server/blob/blobtest"
)

func ExampleRun() {
	// In a test of another store:
	_ = func(t *testing.T) {
		dir := t.TempDir()
		blobtest.Run(t, func(*testing.T) blob.Store { return blob.Dir(dir) })
	}
}
