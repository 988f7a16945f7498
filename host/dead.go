package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/internal/filelock"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// DeadAgent is an agent of a host that has ended: it ended with the host, or its end was not acknowledged.
type DeadAgent struct {
	// Agent is the description at the start of the agent, except for Checkpoint, Kept and Last, which come from the
	// files.
	Agent
	// State is the owner's state of its last checkpoint.
	State []byte
	dir   string
}

// ReadSpool returns the agents of hosts that have ended. It may be called while a new host runs,
// and does not return that host's agents. The caller must call Remove for each agent after it has
// stored its records. If some agents have damaged files, ReadSpool returns an error and the agents
// with intact descriptions; [DeadAgent.Records] ends with an error at the first damaged record.
func ReadSpool(dataDir string) ([]*DeadAgent, error) {
	dir := filepath.Join(dataDir, folder)
	dead, damaged := readAgents(filepath.Join(dir, deadName))
	// A host was killed and has no successor yet.
	lock, err := filelock.TryLock(filepath.Join(dir, lockName))
	switch {
	case errors.Is(err, filelock.ErrLocked) || errors.Is(err, fs.ErrNotExist):
		return dead, damaged
	case err != nil:
		return dead, errors.Join(damaged, err)
	}
	left, err := readAgents(filepath.Join(dir, agentsName))
	return append(dead, left...), errors.Join(damaged, err, lock.Unlock())
}

func readAgents(dir string) (agents []*DeadAgent, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		d, readErr := readAgent(filepath.Join(dir, e.Name()))
		if errors.Is(readErr, fs.ErrNotExist) {
			continue // its start had not finished
		}
		if err = errors.Join(err, readErr); d != nil {
			agents = append(agents, d)
		}
	}
	return agents, err
}

// readAgent reads the files of an agent. If its records are damaged, it returns an error and the agent with those before the damage.
func readAgent(dir string) (*DeadAgent, error) {
	text, err := regularfile.Read(filepath.Join(dir, agentFile), maxFrame)
	if err != nil {
		return nil, err
	}
	d := &DeadAgent{dir: dir}
	if err := json.Unmarshal(text, &d.Agent); err != nil {
		return nil, err
	}
	if d.Checkpoint, d.State, err = readState(dir); err != nil {
		return nil, err
	}
	d.Last = d.Checkpoint
	d.Kept = d.Checkpoint + 1
	for r, err := range d.Records() {
		if err != nil {
			return d, fmt.Errorf("host: the records of agent %d after %d: %w", d.Number, d.Last, err)
		}
		d.Last = r.Number
		if r.Kind == Exited {
			d.Exit = new(Exit)
			if err := json.Unmarshal(r.Data, d.Exit); err != nil {
				d.Exit = nil
				return d, fmt.Errorf("host: the exit of agent %d: %w", d.Number, err)
			}
		}
	}
	return d, nil
}

// Records returns the records after the last checkpoint, up to the last complete one.
func (d *DeadAgent) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		files, err := segmentFiles(d.dir)
		if err != nil {
			yield(Record{}, err)
			return
		}
		var whole assembler
		last := uint64(0)
		next := func(r Record, err error) bool {
			if err == nil && last > 0 && r.Number != last+1 {
				yield(Record{}, fmt.Errorf("record %d follows record %d", r.Number, last))
				return false
			}
			last = r.Number
			return yield(r, err)
		}
		for i, name := range files {
			following := ""
			if i+1 < len(files) {
				following = files[i+1]
			}
			if !d.recordsOf(name, following, &whole, next) {
				return
			}
		}
	}
}

// recordsOf reads a file, and returns false if it is the last one to read. following is the next file, or empty.
func (d *DeadAgent) recordsOf(name, following string, whole *assembler, yield func(Record, error) bool) bool {
	f, err := os.Open(name)
	if err != nil {
		yield(Record{}, err)
		return false
	}
	defer f.Close()
	frames := &frameReader{r: f, keep: true}
	for {
		kind, payload, err := frames.next()
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			if following != "" && !follows(name, following) {
				yield(Record{}, fmt.Errorf("%s is cut, or a file after it is missing", filepath.Base(name)))
				return false
			}
			return err == io.EOF // otherwise the host was killed while it wrote
		}
		if err == nil && kind != frameData {
			err = fmt.Errorf("unexpected frame of type %q", kind)
		}
		var p part
		if err == nil {
			_, p, err = parsePart(payload)
		}
		if err != nil {
			yield(Record{}, err)
			return false
		}
		if r, ok := whole.add(p); ok && r.Number > d.Checkpoint && !yield(r, nil) {
			return false
		}
	}
}

// follows reports whether a file of a spool begins where the one before it ends.
func follows(name, following string) bool {
	info, err := os.Stat(name)
	begin, nameErr := position(name)
	next, nextErr := position(following)
	return errors.Join(err, nameErr, nextErr) == nil && begin+info.Size() == next
}

// position returns the position in the spool at which a file begins.
func position(name string) (int64, error) {
	return strconv.ParseInt(strings.TrimPrefix(filepath.Base(name), segmentPrefix), 10, 64)
}

// Wrote reports whether an owner may have written a line with this text to the agent. If false, the host accepted no such line. It is true
// if records are missing.
func (d *DeadAgent) Wrote(text string) bool {
	if d.Checkpoint > 0 {
		return true
	}
	for r, err := range d.Records() {
		if err != nil || r.Kind == Input && bytes.Contains(r.Data, []byte(text)) {
			return true
		}
	}
	return false
}

// Remove removes the files of the agent.
func (d *DeadAgent) Remove() error { return os.RemoveAll(d.dir) }
