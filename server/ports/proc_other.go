//go:build !linux

package ports

// look returns ErrUnsupported: it needs /proc.
func look(string) ([]listener, map[string]process, error) { return nil, nil, ErrUnsupported }
