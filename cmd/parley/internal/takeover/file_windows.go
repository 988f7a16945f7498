package takeover

import (
	"errors"
	"net"
	"os"
)

func sendFile(*net.UnixConn, []byte, *os.File) error { return errors.ErrUnsupported }

func receiveFile(*net.UnixConn, int) ([]byte, *os.File, error) {
	return nil, nil, errors.ErrUnsupported
}
