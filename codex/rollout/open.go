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

// zstdSuffix follows .jsonl in the name of a compressed rollout. The program compresses rollouts
// that have not changed for a while, and reads both.
const zstdSuffix = ".zst"

const (
	// maxDecoded is the limit in bytes of a decoded file, which is cut there. Rollouts compress to
	// a tenth, so the limit exceeds any real rollout.
	maxDecoded = 16 << 30
	// maxWindow is the memory limit of decoding; the highest compression level needs 128 MiB.
	maxWindow = 128 << 20
)

// errTooLarge is the error of a compressed file that exceeds maxDecoded.
var errTooLarge = errors.New("the file is larger than 16 GiB when it is decoded")

// openRollout opens a rollout for reading its lines until ctx ends, and decodes it if it is compressed.
func openRollout(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := regularfile.OpenNoFollow(path)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(path, zstdSuffix) {
		return bounded(ctx, f), nil
	}
	// As many goroutines as processors already read files.
	d, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return bounded(ctx, &compressed{d: d, f: f, left: maxDecoded}), nil
}

// bounded returns a reader that ends with a context. A few compressed bytes can decode to lines
// that take minutes to read.
func bounded(ctx context.Context, f io.ReadCloser) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{regularfile.Until(ctx, f), f}
}

// compressed reads a compressed file up to a limit.
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
