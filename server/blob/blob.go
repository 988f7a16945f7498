// Package blob stores named pieces of data of a server: uploads, and parameters of sessions that may contain passwords. A single server
// keeps them in a directory ([Dir]), servers of a cluster in the cluster; blobtest checks both.
package blob

import (
	"context"
	"fmt"
	"strings"
)

// Store holds data by names. Its methods may be called from any goroutine. A name is valid if [CheckName] accepts it.
type Store interface {
	// Read returns the data of a name. The error wraps [fs.ErrNotExist] if the name has no data.
	Read(ctx context.Context, name string) ([]byte, error)
	// Write sets the data of a name. It returns when the data is durable. A reader gets either the
	// complete earlier data or the complete new data.
	Write(ctx context.Context, name string, data []byte) error
	// Remove deletes a name and all names below it: Remove of "a" deletes "a" and "a/b". It returns
	// no error for a name without data.
	Remove(ctx context.Context, name string) error
}

// Lister is a [Store] that lists its names.
type Lister interface {
	// Names returns all names with data, sorted.
	Names(ctx context.Context) ([]string, error)
}

// MaxName is the maximum length of a name in bytes.
const MaxName = 200

// CheckName returns an error for a name that is not one or more parts of letters, digits, dots, dashes and underscores, separated by
// slashes. A part begins with a letter or a digit.
func CheckName(name string) error {
	for part := range strings.SplitSeq(name, "/") {
		wrong := strings.ContainsFunc(part, func(r rune) bool { return !isPlain(r) && !strings.ContainsRune(".-_", r) })
		if part == "" || wrong || !isPlain(rune(part[0])) || len(name) > MaxName {
			return fmt.Errorf("blob: the name %.40q is invalid", name)
		}
	}
	return nil
}

func isPlain(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}
