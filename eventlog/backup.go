package eventlog

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// A backup is
//
//	"parley eventlog backup 1\n"
//	frames: 'S' or 'L', the session and the message of a snapshot or a log, each after its length as uvarint
//	'E', the number of frames as 8 bytes, and the SHA-256 of everything before it
//
// The number in the first line is the backup's format.
const (
	backupMagic  = "parley eventlog backup "
	frameLog     = 'L'
	frameState   = 'S'
	frameEnd     = 'E'
	backupFormat = 1
)

// Backup writes all logs and snapshots, as of the call, to w, while the store continues; Trim,
// Delete and PutSnapshot wait for it. Deltas and leases are not part of a backup. In a cluster it
// returns an error if another node removed events meanwhile.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	ctx, end, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := s.readyAll(ctx, logStream, snapshotStream); err != nil {
		return err
	}
	leave, err := s.gate.alone(ctx)
	if err != nil {
		return err
	}
	defer leave()
	b := newBackupWriter(w)
	fmt.Fprintf(b, "%s%d\n", backupMagic, backupFormat)
	states := map[string]uint64{}
	err = s.eachMessage(ctx, s.st.snapshot, snapshotPrefix, func(session string, msg []byte) error {
		if h, _, err := decodePart(msg); err == nil && h.complete() {
			states[session] = h.first
		}
		return b.frame(frameState, session, msg)
	})
	if err != nil {
		return fmt.Errorf("eventlog: backup of snapshots: %w", err)
	}
	chains := map[string]*chain{}
	err = s.eachMessage(ctx, s.st.log, logPrefix, func(session string, msg []byte) error {
		if chains[session] == nil {
			chains[session] = &chain{}
		}
		if err := chains[session].add(session, msg); err != nil {
			return err
		}
		return b.frame(frameLog, session, msg)
	})
	if err != nil {
		return fmt.Errorf("eventlog: backup of logs: %w", err)
	}
	if err := s.checkBackup(states, chains); err != nil {
		return err
	}
	return b.end()
}

// checkBackup rejects a backup with missing events that the store has not lost before.
func (s *Store) checkBackup(states map[string]uint64, chains map[string]*chain) error {
	lost := map[string]bool{}
	for _, d := range s.Damage() {
		lost[d.Session] = true
	}
	for session, c := range chains {
		if (len(c.gaps) > 0 || c.first > states[session]+1) && !lost[session] {
			return fmt.Errorf("eventlog: the log of session %s changed during the backup; try again", session)
		}
	}
	return nil
}

// eachMessage calls f for the messages of a stream at the time of the call.
func (s *Store) eachMessage(ctx context.Context, stream jetstream.Stream, prefix string, f func(session string, msg []byte) error) error {
	info, err := stream.Info(ctx)
	if err != nil {
		return err
	}
	feed := &feed{store: s, stream: stream, subject: prefix + "*", next: 1}
	defer feed.close()
	for pending := info.State.Msgs; pending > 0; {
		msg, err := s.takeWithin(ctx, feed)
		if err != nil {
			return err
		}
		if msg.seq > info.State.LastSeq {
			return nil
		}
		if err := f(strings.TrimPrefix(msg.subject, prefix), msg.data); err != nil {
			return err
		}
		pending = msg.pending
		if msg.seq == info.State.LastSeq {
			return nil
		}
	}
	return nil
}

// backupWriter writes the frames of a backup and computes the checksum.
type backupWriter struct {
	io.Writer
	buf    *bufio.Writer
	sum    hash.Hash
	frames uint64
}

func newBackupWriter(w io.Writer) *backupWriter {
	b := &backupWriter{buf: bufio.NewWriterSize(w, 1<<20), sum: sha256.New()}
	b.Writer = io.MultiWriter(b.buf, b.sum)
	return b
}

func (b *backupWriter) frame(kind byte, session string, msg []byte) error {
	b.frames++
	head := binary.AppendUvarint([]byte{kind}, uint64(len(session)))
	head = append(head, session...)
	head = binary.AppendUvarint(head, uint64(len(msg)))
	if _, err := b.Write(head); err != nil {
		return err
	}
	_, err := b.Write(msg)
	return err
}

func (b *backupWriter) end() error {
	if _, err := b.Write(binary.BigEndian.AppendUint64([]byte{frameEnd}, b.frames)); err != nil {
		return err
	}
	if _, err := b.buf.Write(b.sum.Sum(nil)); err != nil {
		return err
	}
	return b.buf.Flush()
}

// backupReader reads the frames of a backup.
type backupReader struct {
	buf    *bufio.Reader
	sum    hash.Hash
	frames uint64
}

// frame is one message of a backup.
type frame struct {
	kind    byte
	session string
	msg     []byte
}

// openBackup reads the first line.
func openBackup(r io.Reader) (*backupReader, error) {
	b := &backupReader{buf: bufio.NewReaderSize(r, 1<<20), sum: sha256.New()}
	line, err := b.buf.ReadSlice('\n')
	var format int
	if n, _ := fmt.Sscanf(string(line), backupMagic+"%d\n", &format); err != nil || n != 1 {
		return nil, fmt.Errorf("%w: it does not start as a backup does", ErrBackup)
	}
	b.sum.Write(line)
	if format > backupFormat {
		return nil, fmt.Errorf("%w: backup of format %d, known are formats up to %d", ErrFormat, format, backupFormat)
	}
	return b, nil
}

// next returns the next frame, or io.EOF after the verified end.
func (b *backupReader) next() (frame, error) {
	kind, err := b.ReadByte()
	if err != nil {
		return frame{}, cutOff(err)
	}
	switch kind {
	case frameEnd:
		return frame{}, b.finish()
	case frameLog, frameState:
	default:
		return frame{}, fmt.Errorf("%w: unknown frame %#x", ErrBackup, kind)
	}
	session, err := b.bytes(128)
	if err != nil {
		return frame{}, err
	}
	if !validSession(string(session)) {
		return frame{}, fmt.Errorf("%w: session %.140q", ErrBackup, session)
	}
	msg, err := b.bytes(partSize + 256)
	b.frames++
	return frame{kind, string(session), msg}, err
}

// ReadByte reads one byte of the frames.
func (b *backupReader) ReadByte() (byte, error) {
	c, err := b.buf.ReadByte()
	if err == nil {
		b.sum.Write([]byte{c})
	}
	return c, err
}

// bytes reads a length and as many bytes.
func (b *backupReader) bytes(limit uint64) ([]byte, error) {
	n, err := binary.ReadUvarint(b)
	if err != nil {
		return nil, cutOff(err)
	}
	if n > limit {
		return nil, fmt.Errorf("%w: a length of %d", ErrBackup, n)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(b.buf, data); err != nil {
		return nil, cutOff(err)
	}
	b.sum.Write(data)
	return data, nil
}

func (b *backupReader) finish() error {
	var count [8]byte
	if _, err := io.ReadFull(b.buf, count[:]); err != nil {
		return cutOff(err)
	}
	b.sum.Write(count[:])
	sum := make([]byte, sha256.Size)
	if _, err := io.ReadFull(b.buf, sum); err != nil {
		return cutOff(err)
	}
	if binary.BigEndian.Uint64(count[:]) != b.frames || string(b.sum.Sum(nil)) != string(sum) {
		return fmt.Errorf("%w: its checksum is wrong", ErrBackup)
	}
	return io.EOF
}

// cutOff returns the error for an early end of a backup.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it is cut off", ErrBackup)
	}
	return fmt.Errorf("eventlog: reading a backup: %w", err)
}
