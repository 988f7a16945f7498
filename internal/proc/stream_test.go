package proc

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

const testDelay = 500 * time.Millisecond

// held is a stream that another process keeps open: it returns data and then blocks until it is closed.
type held struct {
	data   *bytes.Reader
	closed chan struct{}
}

func newHeld(data string) held { return held{bytes.NewReader([]byte(data)), make(chan struct{})} }

func (h held) Read(p []byte) (int, error) {
	if h.data.Len() > 0 {
		return h.data.Read(p)
	}
	<-h.closed
	return 0, io.ErrClosedPipe
}

func (h held) Close() error { close(h.closed); return nil }

// TestStreamWithoutDeadline: a foreign stream is closed during a read that is blocked at the exit of the
// process or begins later, but not before the delay is over.
func TestStreamWithoutDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld("some data")
		s := newStream(h, testDelay)
		read := make(chan []byte)
		go func() {
			b, err := io.ReadAll(s)
			if err != nil {
				t.Error(err)
			}
			read <- b
		}()
		synctest.Wait()
		begin := time.Now()
		s.processExited()
		if got := string(<-read); got != "some data" {
			t.Errorf("read %q", got)
		}
		if took := time.Since(begin); took != testDelay {
			t.Errorf("the end came after %v", took)
		}
	})
}

func TestStreamWithoutDeadlineReadLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStream(newHeld("some data"), testDelay)
		s.processExited()
		<-time.After(time.Hour) // of the bubble's clock
		begin := time.Now()
		if b, err := io.ReadAll(iotest.OneByteReader(s)); string(b) != "some data" || err != nil {
			t.Errorf("read %q, %v", b, err)
		}
		if took := time.Since(begin); took != lateWait {
			t.Errorf("the end came after %v", took)
		}
	})
}

// TestStreamWithDeadline: a net.Conn gets deadlines and is not closed.
func TestStreamWithDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, other := net.Pipe()
		defer other.Close()
		s := newStream(conn, testDelay)
		wrote := make(chan struct{})
		go func() {
			defer close(wrote)
			io.WriteString(other, "early")
			<-time.After(testDelay / 2)
			s.processExited()
			<-time.After(testDelay / 2)
			io.WriteString(other, "late") // within the delay
		}()
		b, err := io.ReadAll(s)
		if string(b) != "earlylate" || err != nil {
			t.Errorf("read %q, %v", b, err)
		}
		<-wrote
	})
}

// TestStreamDataWithError: an error that comes with data is returned after the data.
func TestStreamDataWithError(t *testing.T) {
	broken := errors.New("broken")
	for _, end := range []error{io.EOF, broken} {
		src := iotest.DataErrReader(io.MultiReader(bytes.NewReader([]byte("data")), iotest.ErrReader(end)))
		s := newStream(io.NopCloser(src), testDelay)
		buf := make([]byte, 10)
		n, err := s.Read(buf)
		if string(buf[:n]) != "data" || err != nil {
			t.Errorf("first Read: %q, %v", buf[:n], err)
		}
		for range 2 {
			if n, err := s.Read(buf); n != 0 || err != end {
				t.Errorf("then: %d, %v, want %v", n, err, end)
			}
		}
	}
}

func TestStreamNil(t *testing.T) {
	s := newStream(nil, testDelay)
	s.processExited()
	if n, err := s.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("Read: %d, %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestStreamClose ends a pending Read.
func TestStreamClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStream(newHeld(""), testDelay)
		failed := make(chan error)
		go func() {
			_, err := s.Read(make([]byte, 1))
			failed <- err
		}()
		synctest.Wait()
		s.Close()
		if err := <-failed; err != os.ErrClosed {
			t.Errorf("Read: %v", err)
		}
	})
}
