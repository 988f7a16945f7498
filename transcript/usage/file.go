package usage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// file is one transcript.
type file struct {
	id      uint32
	path    string
	project string // the name of the directory below projects
	session string // from the file name; for a subagent, its session
	agent   string // from the file name; "" for a main file

	provider string // for answers that are in no transcript; the file then does not exist
	size     int64
	offset   int64 // everything before it has been read
	passing  bool  // offset is inside of a line to skip
	torn     bool  // the last line is cut off

	born        int64 // the first time in the file
	cwd         string
	bill        *bill // the last bill
	sinceBill   int   // lines of answers after the bill
	compactions int
}

// bufferSize is the read buffer in bytes. It fits the cache of a core.
const bufferSize = 256 << 10

// maxRead is the number of bytes read between two checks of the context.
const maxRead = 1 << 20

// reader reads files, one after the other, into a ledger that other readers write to as well.
type reader struct {
	ledger *Ledger
	stats  Stats
	buffer []byte
	line   entryLine
	batch  []entry // of the current file

	session, branch, model, agent recent
}

// read reads the data appended to a file since the last read.
func (r *reader) read(ctx context.Context, f *file) error {
	in, err := regularfile.Open(f.path)
	if err != nil {
		return err
	}
	defer in.Close()
	if f.offset > 0 {
		if _, err := in.Seek(f.offset, io.SeekStart); err != nil {
			return err
		}
	}
	defer r.flush()
	if r.buffer == nil {
		r.buffer = make([]byte, bufferSize)
	}
	begin, end := 0, 0
	for {
		n, err := fill(ctx, in, r.buffer[end:])
		end += n
		r.stats.Bytes += int64(n)
		if f.born == 0 { // before an answer of the file is in the ledger
			f.born = firstTime(r.buffer[:end])
		}
		used := r.lines(f, r.buffer[begin:end])
		f.offset += int64(used)
		begin += used
		switch {
		case errors.Is(err, io.EOF):
			r.tail(f, r.buffer[begin:end])
			return nil
		case err != nil:
			return err
		}
		end = copy(r.buffer, r.buffer[begin:end])
		begin = 0
		if end == len(r.buffer) {
			r.buffer = append(r.buffer, make([]byte, len(r.buffer))...)
		}
	}
}

// fill reads in parts until buf is full or the file ends.
func fill(ctx context.Context, in io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		if ctx.Err() != nil {
			return n, ctx.Err()
		}
		var m int
		m, err = in.Read(buf[n:min(len(buf), n+maxRead)])
		n += m
	}
	return n, err
}

// firstTime returns the first time in the beginning of a file. It is the start of the file: the CLI
// writes a record with the time before it copies the lines of another session.
func firstTime(b []byte) int64 {
	const name = `"timestamp":"`
	i := bytes.Index(b, []byte(name))
	if i < 0 {
		return math.MaxInt64
	}
	text, _, _ := bytes.Cut(b[i+len(name):min(len(b), i+len(name)+40)], []byte{'"'})
	return cmp.Or(parseTime(text), math.MaxInt64)
}

// lines reads the complete lines of b, which begins at f.offset, and returns their length. It skips
// lines that are not needed even if they are incomplete.
func (r *reader) lines(f *file, b []byte) (used int) {
	for used < len(b) {
		rest := b[used:]
		if !f.passing {
			switch judge(rest) {
			case compaction:
				f.compactions++
			case useless:
			default:
				end := bytes.IndexByte(rest, '\n')
				if end < 0 {
					return used
				}
				r.whole(f, rest[:end], int64(used))
				used += end + 1
				continue
			}
		}
		end := bytes.IndexByte(rest, '\n')
		if f.passing = end < 0; f.passing {
			return len(b)
		}
		used += end + 1
	}
	return used
}

// tail reads the data after the last line break. A cut-off line may be incomplete: it is read again
// the next time.
func (r *reader) tail(f *file, rest []byte) {
	f.torn = false
	if len(bytes.TrimSpace(rest)) == 0 {
		return
	}
	bad := r.stats.BadLines
	r.whole(f, rest, 0)
	if f.torn = r.stats.BadLines > bad; f.torn {
		r.stats.BadLines = bad
		return
	}
	f.offset += int64(len(rest))
}

// whole reads a line. offset is the position of the line relative to f.offset.
func (r *reader) whole(f *file, line []byte, offset int64) {
	e := &r.line
	switch {
	case len(bytes.TrimSpace(line)) == 0:
	case !e.parse(line):
		r.stats.BadLines++
	case e.bill != nil && f.agent == "":
		f.bill, f.sinceBill = e.bill, 0
	case e.counts:
		f.sinceBill++
		r.stats.Lines++
		r.answer(f, &e.answer, f.offset+offset)
	}
}

// synthetic is the model of lines that the CLI writes without the API.
const synthetic = "<synthetic>"

func (r *reader) answer(f *file, a *answer, offset int64) {
	if a.used == (Tokens{}) && (len(a.model) == 0 || unquote(a.model) == synthetic) {
		return // an error of the API in the form of an answer
	}
	n := r.ledger.names
	e := entry{
		key: identity(f, a, offset), at: a.at, file: f.id,
		session: r.session.of(n, a.session), branch: r.branch.of(n, a.branch), model: r.model.of(n, a.model), agent: r.agent.of(n, a.agent),
	}
	if len(a.session) == 0 {
		e.session = n.id(f.session)
	}
	if len(a.agent) == 0 && f.agent != "" {
		e.agent = n.id(f.agent)
	}
	e.setTokens(a.used)
	e.set(sidechain, a.sidechain)
	e.set(forked, a.forked)
	e.set(broken, a.broken)
	e.set(fast, a.fast)
	e.set(inUS, a.us)
	if f.agent == "" {
		f.place(a.cwd)
	}
	r.put(&e)
}

// put adds a line of an answer to the batch. The lines of one answer are mostly adjacent.
func (r *reader) put(e *entry) {
	if n := len(r.batch); n > 0 && r.batch[n-1].key == e.key && r.batch[n-1].session == e.session {
		r.ledger.take(&r.batch[n-1], e)
		return
	}
	if len(r.batch) == cap(r.batch) {
		r.flush()
	}
	r.batch = append(r.batch, *e)
}

// flush adds the batch to the ledger.
func (r *reader) flush() {
	if r.batch == nil {
		r.batch = make([]entry, 0, 512)
	}
	r.ledger.mu.Lock()
	defer r.ledger.mu.Unlock()
	for i := range r.batch {
		r.ledger.put(&r.batch[i])
	}
	r.batch = r.batch[:0]
}

// identity returns the key of an answer. An answer without a message id is identified by its position.
func identity(f *file, a *answer, offset int64) key {
	if len(a.id) == 0 {
		return key{message: maphash.Comparable(seed, offset), request: maphash.String(seed, f.path)}
	}
	k := key{message: maphash.Bytes(seed, a.id)}
	if len(a.request) > 0 {
		k.request = maphash.Bytes(seed, a.request)
	}
	return k
}

// place records the directory of a session. The name of the project's directory is not reversible,
// but it tells which of several directories it was derived from.
func (f *file) place(raw []byte) {
	if len(raw) == 0 || f.cwd == string(raw) {
		return
	}
	if cwd := unquote(raw); f.cwd == "" || !keyed(f.cwd, f.project) && keyed(cwd, f.project) {
		f.cwd = cwd
	}
}

// keyed reports whether sessions of a directory are stored below projects under that name. It
// ignores the hash at the end of long names.
func keyed(cwd, name string) bool {
	var b strings.Builder
	for _, r := range cwd {
		switch {
		case r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			b.WriteRune(r)
		case r > 0xffff: // two units of UTF-16
			b.WriteString("--")
		default:
			b.WriteByte('-')
		}
	}
	got := b.String()
	if len(got) > 200 {
		return strings.HasPrefix(name, got[:200]+"-")
	}
	return got == name
}

// newFile returns a file of a project. The name determines session and agent.
func newFile(path, project string) *file {
	f := &file{path: path, project: project}
	name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	f.session = name
	if agent, ok := strings.CutPrefix(name, "agent-"); ok {
		f.agent = agent
		f.session = ""
		if before, _, found := strings.Cut(filepath.ToSlash(path), "/subagents/"); found {
			f.session = filepath.Base(filepath.FromSlash(before))
		}
	}
	return f
}
