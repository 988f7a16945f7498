package ndjson_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/internal/ndjson"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func readAll(t testing.TB, r *ndjson.Reader) (lines []ndjson.Line, err error) {
	t.Helper()
	for {
		line, err := r.Next()
		if err != nil {
			return lines, err
		}
		lines = append(lines, line)
	}
}

func texts(lines []ndjson.Line) []string {
	out := []string{}
	for _, l := range lines {
		out = append(out, l.Text)
	}
	return out
}

func TestReader(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	tests := []struct {
		name, in string
		want     []string
	}{
		{"empty", "", []string{}},
		{"lines", "a\nb\n", []string{"a", "b"}},
		{"crlf", "a\r\nb\r\n", []string{"a", "b"}},
		{"inner cr stays", "a\rb\n", []string{"a\rb"}},
		{"blank", "\n\r\n  \t\na\n\n", []string{"a"}},
		{"byte order mark", "\ufeff{}\n\ufeffb\n", []string{"{}", "\ufeffb"}},
		{"byte order mark alone", "\ufeff\n{}\n", []string{"{}"}},
		{"torn", "a\nb", []string{"a", "b"}},
		{"white space stays", "  a  \n", []string{"  a  "}},
		{"separators are text", "a\u2028b\u2029c\u0085d\n", []string{"a\u2028b\u2029c\u0085d"}},
		{"invalid utf-8 stays", "\xff\xfe\n", []string{"\xff\xfe"}},
		{"longer than any buffer", "a\n" + long + "\nb\n", []string{"a", long, "b"}},
		{"junk", "[SandboxDebug] x\n{}\n", []string{"[SandboxDebug] x", "{}"}},
		{"one carriage return of two", "a\r\r\nb\r\r", []string{"a\r", "b\r"}},
	}
	for _, tt := range tests {
		for how, src := range map[string]io.Reader{
			"whole": strings.NewReader(tt.in),
			"bytes": iotest.OneByteReader(strings.NewReader(tt.in)),
			"eof":   iotest.DataErrReader(strings.NewReader(tt.in)),
		} {
			lines, err := readAll(t, ndjson.NewReader(src, 0))
			if diff := cmp.Diff(tt.want, texts(lines)); diff != "" || err != io.EOF {
				t.Errorf("%s, %s: %v %s; want diff == \"\" and err == io.EOF", tt.name, how, err, diff)
			}
		}
	}
}

func TestReader_torn(t *testing.T) {
	lines, _ := readAll(t, ndjson.NewReader(strings.NewReader("{}\n{\"a\""), 0))
	if len(lines) != 2 || lines[0].Torn || !lines[1].Torn {
		t.Errorf("got %+v", lines)
	}
}

// The byte order mark is not part of the line.
func TestReader_sizeWithoutMark(t *testing.T) {
	lines, _ := readAll(t, ndjson.NewReader(strings.NewReader("\ufeff{}\n\ufeff{}\n"), 0))
	if len(lines) != 2 || lines[0].Size != 2 || lines[1].Size != 5 {
		t.Errorf("got %+v", lines)
	}
}

func TestReader_guard(t *testing.T) {
	huge := strings.Repeat("y", 1<<20)
	for _, tail := range []string{"\nb\n", ""} {
		lines, err := readAll(t, ndjson.NewReader(strings.NewReader("a\n"+huge+tail), 100_000))
		if err != io.EOF || len(lines) < 2 {
			t.Fatalf("got %d lines, %v", len(lines), err)
		}
		l := lines[1]
		if !l.TooLong || l.Size != len(huge) || len(l.Text) != ndjson.KeptOfLong {
			t.Errorf("got TooLong %v, Size %d, %d bytes kept", l.TooLong, l.Size, len(l.Text))
		}
		if tail != "" && lines[2].Text != "b" {
			t.Errorf("the stream did not go on: %+v", lines[2])
		}
	}
	exact, _ := readAll(t, ndjson.NewReader(strings.NewReader("12345\n123456\n"), 5))
	if exact[0].TooLong || !exact[1].TooLong || exact[1].Text != "123456" {
		t.Errorf("got %+v", exact)
	}
}

// A line that is longer than a buffer is joined from parts; the limit is the same.
func TestReader_guardOfLongLines(t *testing.T) {
	const guard = 300_000 // more than a buffer
	for _, chunk := range []int{1 << 20, 4096, guard} {
		data := strings.Repeat("y", guard) + "\n" + strings.Repeat("z", guard+1) + "\nend\n"
		lines, err := readAll(t, ndjson.NewReader(&chunkReader{data: []byte(data), size: chunk}, guard))
		if err != io.EOF || len(lines) != 3 {
			t.Fatalf("chunks of %d: %d lines, %v", chunk, len(lines), err)
		}
		if l := lines[0]; l.TooLong || l.Size != guard || l.Text != strings.Repeat("y", guard) {
			t.Errorf("chunks of %d: a line as long as the guard: TooLong %v, Size %d, %d bytes kept", chunk, l.TooLong, l.Size, len(l.Text))
		}
		if l := lines[1]; !l.TooLong || l.Size != guard+1 || l.Text != strings.Repeat("z", ndjson.KeptOfLong) {
			t.Errorf("chunks of %d: one byte more: TooLong %v, Size %d, %d bytes kept", chunk, l.TooLong, l.Size, len(l.Text))
		}
	}
}

func TestReader_error(t *testing.T) {
	boom := errors.New("boom")
	r := ndjson.NewReader(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(boom)), 0)
	lines, err := readAll(t, r)
	if diff := cmp.Diff([]string{"a", "b"}, texts(lines)); diff != "" || err != boom {
		t.Errorf("%v %s; want diff == \"\" and err == boom", err, diff)
	}
	if _, err := r.Next(); err != boom {
		t.Errorf("a later call gives %v", err)
	}
}

// ndjson.FuzzReader compares the reader with bytes.Split for any chunks.
func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n{}\n  \nlast"), uint16(3), uint16(0))
	f.Add(bytes.Repeat([]byte("0123456789"), 2000), uint16(4096), uint16(50))
	f.Add([]byte("\n\n\r\n\r"), uint16(1), uint16(1))
	f.Fuzz(func(t *testing.T, data []byte, chunk, maxLine uint16) {
		src := &chunkReader{data: data, size: int(chunk) + 1}
		got, err := readAll(t, ndjson.NewReader(src, int(maxLine)))
		if err != io.EOF {
			t.Fatal(err)
		}
		guard := int(maxLine)
		if guard == 0 {
			guard = ndjson.DefaultMaxLine
		}
		var want []ndjson.Line
		parts := bytes.Split(data, []byte("\n"))
		for i, p := range parts {
			torn := i == len(parts)-1
			line := ndjson.Line{Text: string(bytes.TrimSuffix(p, []byte("\r"))), Size: len(p), Torn: torn}
			if line.TooLong = len(p) > guard; line.TooLong {
				line.Text = string(p[:min(len(p), ndjson.KeptOfLong)])
			} else if strings.Trim(line.Text, " \t\r") == "" {
				continue
			}
			want = append(want, line)
		}
		if !slices.Equal(want, got) {
			t.Fatalf("cmp.Diff(want, got) is %v; want slices.Equal(want, got)", cmp.Diff(want, got))
		}
	})
}

type chunkReader struct {
	data []byte
	size int
}

func (c *chunkReader) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.data[:min(c.size, len(c.data))])
	c.data = c.data[n:]
	return n, nil
}

func TestWriter_wholeLines(t *testing.T) {
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w := ndjson.NewWriter(pw, time.Minute)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			line := bytes.Repeat(fmt.Appendf(nil, "%02d", i), 100_000)
			if err := w.WriteLine(t.Context(), line); err != nil {
				t.Error(err)
			}
		})
	}
	seen := map[string]bool{}
	r := ndjson.NewReader(pr, 0)
	for range 20 {
		line, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(line.Text, line.Text[:2]) != 100_000 {
			t.Errorf("lines are mixed")
		}
		seen[line.Text[:2]] = true
	}
	wg.Wait()
	if err := w.Close(); err != nil || len(seen) != 20 {
		t.Errorf("%v, %d lines", err, len(seen))
	}
	if err := w.WriteLine(t.Context(), []byte("x")); !errors.Is(err, ndjson.ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
	pr.Close()
}

func TestWriter_ctx(t *testing.T) {
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pr.Close()
	w := ndjson.NewWriter(pw, 0)
	ctx, cancel := context.WithCancel(t.Context())
	big := make([]byte, 1<<20) // more than a pipe holds
	for i := range big {
		big[i] = 'x'
	}
	stuck := make(chan error)
	go func() { stuck <- w.WriteLine(ctx, big) }()
	first := make([]byte, 1)
	if _, err := io.ReadFull(pr, first); err != nil { // the write has begun
		t.Fatal(err)
	}
	waiting := make(chan error)
	go func() { waiting <- w.WriteLine(ctx, []byte("never")) }()
	cancel()
	for _, c := range []chan error{stuck, waiting} {
		if err := <-c; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	// The line that had begun is written completely, the waiting one is not written.
	rest := make(chan string)
	go func() {
		all, _ := io.ReadAll(pr)
		rest <- string(all)
	}()
	if err := w.CloseAfterWrites(t.Context()); err != nil {
		t.Error(err)
	}
	if got := <-rest; len(got) != len(big) || strings.Contains(got, "never") {
		t.Errorf("%d bytes on the wire", len(got))
	}
}

func TestWriter_deadline(t *testing.T) {
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pr.Close()
	w := ndjson.NewWriter(pw, time.Millisecond)
	defer w.Close()
	if err := w.WriteLine(t.Context(), make([]byte, 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// halfWriter accepts half of the first write and all of the others.
type halfWriter struct {
	got bytes.Buffer
	err error
}

func (h *halfWriter) Write(p []byte) (int, error) {
	if h.got.Len() > 0 {
		return h.got.Write(p)
	}
	n, _ := h.got.Write(p[:len(p)/2])
	return n, h.err
}

func (h *halfWriter) Close() error { return nil }

// No line follows half a line, even if the stream would accept it: the other side would
// read the two as one.
func TestWriter_afterHalfALine(t *testing.T) {
	dst := &halfWriter{err: errors.New("boom")}
	w := ndjson.NewWriter(dst, 0)
	defer w.Close()
	for i := range 3 {
		if err := w.WriteLine(t.Context(), []byte("0123456789")); !errors.Is(err, dst.err) {
			t.Errorf("write %d: got %v, want %v", i, err, dst.err)
		}
	}
	if got := dst.got.String(); got != "01234" {
		t.Errorf("on the wire: %q", got)
	}
}

// TestWriter_parts checks that a line in parts is written as one line among others, and that no line is written
// after a broken one.
func TestWriter_parts(t *testing.T) {
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w := ndjson.NewWriter(pw, time.Minute)
	var want []string
	var writers sync.WaitGroup
	for i := range 10 {
		part := strings.Repeat(strconv.Itoa(i), 50_000)
		want = append(want, part+part+part, part+part)
		writers.Go(func() {
			if err := w.WriteParts(t.Context(), slices.Values([][]byte{[]byte(part), []byte(part), []byte(part)})); err != nil {
				t.Errorf("a line in parts: %v", err)
			}
		})
		writers.Go(func() {
			if err := w.WriteLine(t.Context(), []byte(part+part)); err != nil {
				t.Errorf("a large line: %v", err)
			}
		})
	}
	all := w
	go func() {
		writers.Wait()
		all.Close()
	}()
	data, err := io.ReadAll(pr)
	if err != nil {
		t.Fatal(err)
	}
	pr.Close()
	got := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d lines came, or others than the %d that were written", len(got), len(want))
	}

	dst := &halfWriter{err: errors.New("boom")}
	w = ndjson.NewWriter(dst, 0)
	defer w.Close()
	for i := range 2 {
		if err := w.WriteParts(t.Context(), slices.Values([][]byte{[]byte("0123"), []byte("4567")})); !errors.Is(err, dst.err) {
			t.Errorf("write %d: got %v, want %v", i, err, dst.err)
		}
	}
	if got := dst.got.String(); got != "01" {
		t.Errorf("on the wire: %q, want the half of the first part", got)
	}
}

func TestWriter_closeGivesUp(t *testing.T) {
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pr.Close()
	w := ndjson.NewWriter(pw, 0)
	stuck := make(chan error)
	go func() { stuck <- w.WriteLine(context.Background(), make([]byte, 1<<20)) }()
	if _, err := io.ReadFull(pr, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := <-stuck; err == nil {
		t.Error("no error for half a line")
	}
}

// A line feed in a line would make two messages.
func TestWriter_lineFeed(t *testing.T) {
	dst := &halfWriter{}
	w := ndjson.NewWriter(dst, 0)
	defer w.Close()
	if err := w.WriteLine(t.Context(), []byte("a\nb")); err == nil || errors.Is(err, ndjson.ErrClosed) || dst.got.Len() > 0 {
		t.Errorf("%v, on the wire: %q", err, dst.got.String())
	}
}

// The context limits the wait for a line that the other side does not read.
func TestWriter_closeAfterWritesEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pr, pw := io.Pipe()
		w := ndjson.NewWriter(pw, 0)
		stuck := make(chan error)
		go func() { stuck <- w.WriteLine(context.Background(), []byte("line")) }()
		synctest.Wait() // the write has begun
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		if err := w.CloseAfterWrites(ctx); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		if text, err := bufio.NewReader(pr).ReadString('\n'); text != "line\n" || err != nil { // it is still written
			t.Errorf("on the wire: %q, %v", text, err)
		}
		if err := <-stuck; err != nil {
			t.Error(err)
		}
		w.Close()
	})
}
