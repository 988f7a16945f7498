//go:build !linux

package ports

// look is not possible without /proc.
func look(string) ([]listener, map[string]process, error) { return nil, nil, ErrUnsupported }
