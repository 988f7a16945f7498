package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/seed7221b0f9/parley/transcript"
)

// historied holds the measurements of session files, in seconds. ts/consumer.mjs has Sessions and
// ListS.
type historied struct {
	Sessions  int     `json:"sessions"`
	ListS     float64 `json:"list_s"`
	AgainS    float64 `json:"again_s"` // with the index of the previous list, reopened
	SearchS   float64 `json:"search_s"`
	Hits      int     `json:"hits"`
	LastS     float64 `json:"last_s"`
	LastBytes int64   `json:"last_bytes"`
	LastCount int     `json:"last_count"`
}

// rareWord occurs in at most one session of the corpus.
const rareWord = "zyzzyva"

// history lists and searches the sessions of the configuration directory, and opens the end of a
// large one.
func history(ctx context.Context, big string) (*historied, error) {
	h := &historied{}
	dir := transcript.Open("")
	if _, _, err := list(ctx, dir, nil); err != nil { // warm-up
		return nil, err
	}
	var err error
	if h.Sessions, h.ListS, err = list(ctx, dir, nil); err != nil {
		return nil, err
	}
	if h.AgainS, err = listAgain(ctx, dir, h.Sessions); err != nil {
		return nil, err
	}
	begin := time.Now()
	for _, err := range dir.Search(ctx, transcript.Query{Text: rareWord}) {
		if err != nil {
			return nil, err
		}
		h.Hits++
	}
	h.SearchS = time.Since(begin).Seconds()
	begin = time.Now()
	page, err := transcript.File(big).Page(ctx, transcript.PageQuery{Limit: 100})
	if err != nil {
		return nil, err
	}
	h.LastS, h.LastBytes, h.LastCount = time.Since(begin).Seconds(), page.BytesRead, len(page.Messages)
	return h, nil
}

func list(ctx context.Context, dir *transcript.Dir, index *transcript.Index) (n int, seconds float64, err error) {
	begin := time.Now()
	for _, err := range dir.Sessions(ctx, transcript.Filter{Index: index}) {
		if err != nil {
			return 0, 0, err
		}
		n++
	}
	return n, time.Since(begin).Seconds(), nil
}

// listAgain measures a list with the index of an earlier one, including reading the index.
func listAgain(ctx context.Context, dir *transcript.Dir, want int) (seconds float64, err error) {
	cache, err := os.MkdirTemp("", "index")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(cache)
	for range 2 {
		begin := time.Now()
		index, err := transcript.OpenIndex(cache)
		if err != nil {
			return 0, err
		}
		n, _, err := list(ctx, dir, index)
		if err != nil {
			return 0, err
		}
		if n != want {
			return 0, fmt.Errorf("%d sessions with an index, %d without", n, want)
		}
		seconds = time.Since(begin).Seconds()
	}
	return seconds, nil
}
