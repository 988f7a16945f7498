package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// maxState limits the owner's state in a checkpoint, in bytes.
const maxState = 1 << 20

// The files of an agent in addition to those of its spool.
const (
	agentFile = "agent.json"
	stateFile = "checkpoint"
)

// checkpoint stores the owner's state and discards the records up to number.
func (a *agent) checkpoint(number uint64, state []byte) error {
	if len(state) > maxState {
		return fmt.Errorf("the state of a checkpoint has %d bytes, the limit is %d", len(state), maxState)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if number > a.info.Last || number < a.info.Checkpoint {
		return fmt.Errorf("invalid checkpoint at %d: the last checkpoint is at %d, the last record is %d", number, a.info.Checkpoint, a.info.Last)
	}
	// Number and state are in one file, so that they change together.
	text := append(binary.BigEndian.AppendUint64(nil, number), state...)
	if err := a.h.disk.replace(filepath.Join(a.dir, stateFile), text); err != nil {
		return err
	}
	a.cover(number)
	return nil
}

// cover discards the records up to number. The caller holds mu.
func (a *agent) cover(number uint64) {
	a.info.Checkpoint = max(a.info.Checkpoint, min(number, a.info.Last))
	a.forgetInputs()
	a.spool.trim(a.covered())
	if begin := a.spool.begin(); a.to.at < begin {
		a.to.at = begin
	}
	if a.waiting {
		a.room.Broadcast()
	}
}

// covered returns the number up to which records can be removed: a queued line must still be read. The caller
// holds mu.
func (a *agent) covered() uint64 {
	if len(a.queue) > 0 {
		return min(a.info.Checkpoint, a.queue[0].Number-1)
	}
	return a.info.Checkpoint
}

// readState reads the last checkpoint in the files of an agent.
func readState(dir string) (number uint64, state []byte, err error) {
	text, err := regularfile.Read(filepath.Join(dir, stateFile), 8+maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, nil
	}
	if err != nil || len(text) < 8 {
		return 0, nil, errors.Join(err, os.ErrInvalid)
	}
	return binary.BigEndian.Uint64(text), text[8:], nil
}
