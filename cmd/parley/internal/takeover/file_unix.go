//go:build unix

package takeover

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// sendFile writes a line together with an open file.
func sendFile(conn *net.UnixConn, line []byte, f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = raw.Control(func(fd uintptr) {
		var n int
		if n, _, sent = conn.WriteMsgUnix(line, syscall.UnixRights(int(fd)), nil); sent == nil && n < len(line) {
			sent = io.ErrShortWrite
		}
	})
	return errors.Join(err, sent)
}

// receiveFile reads a line of at most limit bytes and the file that was sent with it, or nil.
func receiveFile(conn *net.UnixConn, limit int) (line []byte, f *os.File, err error) {
	line, rights := make([]byte, limit), make([]byte, syscall.CmsgSpace(4))
	used := 0
	for used == 0 || bytes.IndexByte(line[:used], '\n') < 0 {
		n, oob, _, _, err := conn.ReadMsgUnix(line[used:], rights)
		if f == nil && oob > 0 {
			f = openFile(rights[:oob])
		}
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF // the other end has closed, or the line is too long
		}
		if err != nil {
			if f != nil {
				_ = f.Close()
			}
			return nil, nil, err
		}
		used += n
	}
	return line[:used], f, nil
}

// openFile returns the file of a control message, or nil.
func openFile(rights []byte) *os.File {
	messages, err := syscall.ParseSocketControlMessage(rights)
	if err != nil || len(messages) == 0 {
		return nil
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return nil
	}
	syscall.CloseOnExec(fds[0])
	return os.NewFile(uintptr(fds[0]), "port")
}
