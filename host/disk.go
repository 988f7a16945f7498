package host

import (
	"io"
	"os"
)

// disk is where a host writes its files, except for its log. Tests have one that is full.
type disk interface {
	// create opens a file that does not exist.
	create(path string) (diskFile, error)
	// replace writes a file that is complete when it has its name.
	replace(path string, text []byte) error
	// write writes a new file.
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

// systemDisk is the file system. It does not sync, except for numbers: the files must survive the end of processes, but not of the
// machine, which ends the agents too.
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
		os.Remove(path + ".new") // a part of it would need the room that is missing
		return err
	}
	return os.Rename(path+".new", path)
}

func (systemDisk) write(path string, text []byte) error { return os.WriteFile(path, text, 0o600) }

func (systemDisk) mkdir(path string) error { return os.MkdirAll(path, 0o700) }

func (systemDisk) increase(c counter) (uint64, error) { return c.increase(anyNumber) }
