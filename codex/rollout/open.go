package rollout

import (
	"github.com/seed7221b0f9/parley/internal/regularfile"

	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// zstdSuffix is what the name of a compressed rollout has after .jsonl. The program
// compresses rollouts that have not changed for a while, and reads both.
const zstdSuffix = ".zst"

const (
	// maxDecoded is how much a compressed file may be once it is not: what is larger is cut
	// there. Rollouts compress to a tenth, so this is far more than a disk has of them.
	maxDecoded = 16 << 30
	// maxWindow is how much memory decoding may take; the highest level that there is
	// needs 128 MiB.
	maxWindow = 128 << 20
)

// errTooLarge is the error of a compressed file that does not end.
var errTooLarge = errors.New("the file is larger than 16 GiB when it is decoded")

// openRollout opens a rollout for reading its lines until ctx ends, decoded if it is compressed.
func openRollout(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := regularfile.OpenNoFollow(path)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(path, zstdSuffix) {
		return bounded(ctx, f), nil
	}
	// Files are read by as many goroutines as there are processors already.
	d, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return bounded(ctx, &compressed{d: d, f: f, left: maxDecoded}), nil
}

// bounded is a file that is read until a context ends. A few bytes that are compressed can be as
// many lines, or as long a line, as it takes to read for minutes.
func bounded(ctx context.Context, f io.ReadCloser) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{regularfile.Until(ctx, f), f}
}

// compressed reads a compressed file up to a bound.
type compressed struct {
	d    *zstd.Decoder
	f    *os.File
	left int64
}

func (c *compressed) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLarge
	}
	n, err := c.d.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

func (c *compressed) Close() error {
	c.d.Close()
	return c.f.Close()
}
