package acpagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// maxFile limits the size of a file that an agent reads or writes through this program, in bytes.
const maxFile = 64 << 20

// isLocal reports whether the agent runs on this machine as this user. Only then it is offered
// files and terminals.
func (s *Session) isLocal() bool {
	return s.provider.Local || s.provider.Spawner == nil && s.provider.Dial == nil
}

// serve answers requests for files and terminals.
func (s *Session) serve(ctx context.Context, m *jsonrpc.Message) (any, error) {
	switch m.Method {
	case acp.MethodFsReadTextFile:
		return answer(m, func(r *acp.ReadTextFileRequest) (any, error) { return s.readFile(ctx, r) })
	case acp.MethodFsWriteTextFile:
		return answer(m, func(r *acp.WriteTextFileRequest) (any, error) { return s.writeFile(ctx, r) })
	case acp.MethodTerminalCreate:
		return answer(m, func(r *acp.CreateTerminalRequest) (any, error) { return s.createTerminal(ctx, m.ID, r) })
	case acp.MethodTerminalOutput, acp.MethodTerminalKill, acp.MethodTerminalRelease, acp.MethodTerminalWaitForExit:
		return answer(m, func(r *acp.TerminalOutputRequest) (any, error) {
			return s.terminals.serve(ctx, m.Method, string(r.TerminalID))
		})
	}
	return nil, jsonrpc.MethodNotFound(m.Method)
}

// answer decodes the parameters of a request and calls do to answer it.
func answer[T any](m *jsonrpc.Message, do func(*T) (any, error)) (any, error) {
	r := new(T)
	if err := json.Unmarshal([]byte(m.Params), r); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	return do(r)
}

// inside calls do with the session directory that contains a path, and with the path relative to it. File operations return
// an error for a link that leads out of the directory.
func (s *Session) inside(path string, do func(root *os.Root, name string) error) error {
	if !filepath.IsAbs(path) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the path is not absolute: " + path}
	}
	for _, dir := range append([]string{s.dir}, s.extra...) {
		name, err := filepath.Rel(dir, path)
		if err != nil || !filepath.IsLocal(name) {
			continue
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		err = do(root, name)
		if errors.Is(err, fs.ErrNotExist) { // the agent may create the file
			err = &jsonrpc.Error{Code: acp.CodeResourceNotFound, Message: "Resource not found: " + path}
		}
		return errors.Join(err, root.Close())
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the path is outside of the session's directories: " + path}
}

// readFile returns the text of a file, or a range of its lines.
func (s *Session) readFile(ctx context.Context, r *acp.ReadTextFileRequest) (any, error) {
	if s.files != nil {
		s.files.Before(ctx, r.Path)
	}
	var text string
	err := s.inside(r.Path, func(root *os.Root, name string) error {
		f, err := openRegular(root, name, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		all, err := io.ReadAll(io.LimitReader(f, maxFile+1))
		if len(all) > maxFile {
			err = fmt.Errorf("the file is over the limit of %d bytes", maxFile)
		}
		text = string(all)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &acp.ReadTextFileResponse{Content: someLines(text, r.Line.Or(1), r.Limit.Or(0))}, nil
}

// someLines returns the lines of a text from the given line, which counts from 1. It returns at most limit lines; 0
// means no limit.
func someLines(text string, from, limit int64) string {
	var out strings.Builder
	number := int64(0)
	for line := range strings.Lines(text) {
		if number++; number >= from && (limit <= 0 || number-from < limit) { // the sum could overflow
			out.WriteString(line)
		}
	}
	return out.String()
}

// writeFile replaces the text of a file, or creates the file.
func (s *Session) writeFile(ctx context.Context, r *acp.WriteTextFileRequest) (any, error) {
	err := s.inside(r.Path, func(root *os.Root, name string) error {
		if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		f, err := openRegular(root, name, os.O_WRONLY|os.O_CREATE, 0o666)
		if err != nil {
			return err
		}
		if err = f.Truncate(0); err == nil {
			_, err = f.WriteString(r.Content)
		}
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return nil, err
	}
	if s.files != nil {
		s.files.After(ctx, r.Path)
	}
	return &acp.WriteTextFileResponse{}, nil
}

// openRegular opens a regular file. Opening a pipe does not block.
func openRegular(root *os.Root, name string, flags int, mode fs.FileMode) (*os.File, error) {
	f, err := root.OpenFile(name, flags|regularfile.NonBlocking, mode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
