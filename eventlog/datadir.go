package eventlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// dataDir is the locked directory of an embedded server.
type dataDir struct {
	path string
	lock *os.File
}

const (
	lockName   = "lock"
	formatName = "format"
)

// openDataDir creates, protects and locks a directory, and rejects one of a newer format. It recreates damaged files if possible.
func openDataDir(path string, o *Options) (*dataDir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	lock, err := lockDir(path)
	if err != nil {
		return nil, err
	}
	d := &dataDir{path, lock}
	if err := d.prepare(o); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// prepare does not change a directory of a newer format.
func (d *dataDir) prepare(o *Options) error {
	if err := d.mendFormat(o); err != nil {
		return err
	}
	if err := d.checkFormat(); err != nil {
		return err
	}
	return d.mendMeta(o)
}

func makePrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(path, 0o700)
}

// lockDir takes the lock file of a directory and writes this process into it.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = takeLock(f, dir)
	if err == nil {
		err = writePID(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// forkTime is the time that a store waits for the lock of a process that has exited. A child that
// the process was starting when it was killed has a copy of the lock until it executes its program.
const forkTime = 5 * time.Second

// takeLock takes the lock of a directory, or returns an error with the process that holds it.
func takeLock(f *os.File, dir string) error {
	for end := time.Now().Add(forkTime); ; time.Sleep(10 * time.Millisecond) {
		locked, err := lockFile(f)
		if err != nil || locked {
			return err
		}
		pid := readPID(io.NewSectionReader(f, 0, 32))
		if pid <= 0 || processRuns(pid) || time.Now().After(end) {
			return &LockedError{Dir: dir, PID: pid}
		}
	}
}

func readPID(r io.Reader) int {
	text, _ := io.ReadAll(io.LimitReader(r, 32))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// checkFormat compares the format file with the formats that this program reads, and writes it in a new directory.
// It runs before the server starts, which might change files of a newer format.
func (d *dataDir) checkFormat() error {
	name := filepath.Join(d.path, formatName)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return writeSynced(name, []byte(strconv.Itoa(Format)+"\n"))
	}
	if err != nil {
		return err
	}
	format, err := parseFormat(name, text)
	if err != nil {
		return err
	}
	return checkFormat(format, d.path)
}

// parseFormat returns the number in a format file.
func parseFormat(name string, text []byte) (int, error) {
	format, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || format < 1 {
		return 0, fmt.Errorf("%w: %s holds %.20q, not a format number", ErrDamaged, name, text)
	}
	return format, nil
}

func checkFormat(format int, what string) error {
	if format > Format {
		return fmt.Errorf("%w: %s has format %d, known are formats up to %d", ErrFormat, what, format, Format)
	}
	return nil
}

// close unlocks the directory.
func (d *dataDir) close() error { return d.lock.Close() }

// streamDir returns the embedded server's directory of a stream.
func (d *dataDir) streamDir(stream string) string {
	return filepath.Join(d.path, "jetstream", "$G", "streams", stream)
}

// writeSynced replaces a file; the new content and the name are synced when it returns.
func writeSynced(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

// syncDir makes the names in a directory durable, if the system supports it.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrInvalid) {
		err = nil // Windows does not sync directories
	}
	return errors.Join(err, f.Close())
}
