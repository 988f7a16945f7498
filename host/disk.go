package host

import (
	"io"
	"os"
)

// disk is the file system for a host's files, except for its log. Tests replace it by one that is
// full.
type disk interface {
	// create creates a file; it fails if the file exists.
	create(path string) (diskFile, error)
	// replace replaces a file in one step, so that no reader sees a part of it.
	replace(path string, text []byte) error
	// write creates a file with this content.
	write(path string, text []byte) error
	// mkdir makes a directory and its parents.
	mkdir(path string) error
	// increase increments the number in a file and returns it.
	increase(c counter) (uint64, error)
}

// diskFile is an open file of a disk.
type diskFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
}

// systemDisk is the system's file system. It syncs only numbers: the other files must survive the
// end of processes, but not a failure of the machine, which also ends the agents.
type systemDisk struct{}

func (systemDisk) create(path string) (diskFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (systemDisk) replace(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		os.Remove(path + ".new") // the incomplete file would take the missing space
		return err
	}
	return os.Rename(path+".new", path)
}

func (systemDisk) write(path string, text []byte) error { return os.WriteFile(path, text, 0o600) }

func (systemDisk) mkdir(path string) error { return os.MkdirAll(path, 0o700) }

func (systemDisk) increase(c counter) (uint64, error) { return c.increase(anyNumber) }
