package transcript

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// pieceSize is the size of a piece in bytes. Sessions grow at the end, so only the last piece of a
// session changes.
const pieceSize = 512 << 10

func (a *Archive) piecePath(sum string) string {
	return filepath.Join(a.dir, "objects", sum[:2], sum[2:]+".gz")
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// saveFile saves a file unless it is unchanged. Of a file that grows during the save it saves the
// part that existed at the start.
func (a *Archive) saveFile(ctx context.Context, f foundFile, known *ArchivedFile) *savedFile {
	s := &savedFile{foundFile: f}
	var last *FileVersion
	if known != nil {
		last = known.Latest()
		if last.Size == f.size && last.Modified.Equal(f.modified) {
			return s
		}
	}
	file, err := openRegular(f.path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) { // otherwise the file was removed
			s.err = fmt.Errorf("%s: %w", f.rel, err)
		}
		return s
	}
	defer file.Close()
	a.savePieces(ctx, s, io.LimitReader(file, f.size), last)
	return s
}

// prefixSum computes the checksum of the first bytes written to it.
type prefixSum struct {
	whole hash.Hash
	left  int64 // of the prefix
	sum   string
}

func (p *prefixSum) add(b []byte) {
	if n := int64(len(b)); p.left > 0 && p.left <= n {
		p.whole.Write(b[:p.left])
		p.sum = hex.EncodeToString(p.whole.Sum(nil))
		p.whole.Write(b[p.left:])
		p.left = 0
		return
	}
	p.left -= int64(len(b))
	p.whole.Write(b)
}

// savePieces saves the content of a file. If the content begins with the last saved version, the
// new version replaces that one.
func (a *Archive) savePieces(ctx context.Context, s *savedFile, from io.Reader, last *FileVersion) {
	v := &FileVersion{Modified: s.modified, Pieces: []string{}}
	sums := &prefixSum{whole: sha256.New()}
	if last != nil {
		sums.left = last.Size
	}
	buf := make([]byte, min(pieceSize, s.size+1))
	for {
		if s.fatal = ctx.Err(); s.fatal != nil {
			return
		}
		n, err := io.ReadFull(from, buf)
		if n > 0 {
			sums.add(buf[:n])
			sum := sumOf(buf[:n])
			if s.fatal = a.savePiece(s, sum, buf[:n]); s.fatal != nil {
				return
			}
			v.Pieces = append(v.Pieces, sum)
			v.Size += int64(n)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			s.err = fmt.Errorf("%s: %w", s.rel, err)
			return
		}
	}
	v.SHA256 = hex.EncodeToString(sums.whole.Sum(nil))
	if last != nil && (sums.sum == last.SHA256 || last.Size == 0) {
		s.replaces = last.SHA256
	}
	s.version = v
}

// savePiece writes a piece unless the archive has it.
func (a *Archive) savePiece(s *savedFile, sum string, content []byte) error {
	path := a.piecePath(sum)
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		return nil
	}
	packed, err := pack(content)
	if err != nil {
		return err
	}
	if err := a.files.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	if err := replace(a.files, path, packed); err != nil {
		return err
	}
	s.pieces++
	s.written += int64(len(packed))
	return nil
}

func pack(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	return b.Bytes(), nil
}

// DamageError reports a piece or a note of an archive with unexpected content.
type DamageError struct {
	Path string
	Err  error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("transcript: %s is damaged: %v", e.Path, e.Err)
}

// Unwrap returns the cause, such as a checksum that does not match.
func (e *DamageError) Unwrap() error { return e.Err }

var errWrongSum = errors.New("its content has another SHA-256 than its name")

// piece reads a piece and checks its checksum.
func (a *Archive) piece(sum string) ([]byte, error) {
	if len(sum) != 2*sha256.Size {
		return nil, &DamageError{a.dir, fmt.Errorf("%q is not the name of a piece", sum)}
	}
	path := a.piecePath(sum)
	content, err := unpackFile(path, pieceSize)
	if err != nil {
		return nil, &DamageError{path, err}
	}
	if sumOf(content) != sum {
		return nil, &DamageError{path, errWrongSum}
	}
	return content, nil
}

// unpackFile reads a compressed file of at most limit bytes.
func unpackFile(path string, limit int64) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) > limit {
		return nil, fmt.Errorf("it has more than %d bytes", limit)
	}
	return content, nil
}
