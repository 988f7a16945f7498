package mcpserver

import (
	"encoding/json"
	"io"
	"sync"

	mcprpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/ndjson"
)

// maxMessage is the size limit of a message of the client in bytes.
const maxMessage = 16 << 20

// Stdio returns a transport over lines, such as standard input and output. A line that is not a
// message, or exceeds 16 MiB, is answered with an error, and reading continues.
func Stdio(r io.ReadCloser, w io.WriteCloser) mcp.Transport {
	out := &lineWriter{WriteCloser: w}
	return &mcp.IOTransport{Reader: &lineReader{Closer: r, lines: ndjson.NewReader(r, maxMessage), out: out}, Writer: out, MaxLineLength: -1}
}

// lineWriter writes whole lines of several goroutines.
type lineWriter struct {
	io.WriteCloser
	mu sync.Mutex
}

func (w *lineWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.WriteCloser.Write(line)
}

// refuse answers an invalid line with an error.
func (w *lineWriter) refuse(id jsonrpc.ID, e *jsonrpc.Error) {
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "error": e})
	if err == nil {
		_, _ = w.Write(append(line, '\n')) // the next write fails too
	}
}

// lineReader passes on the lines that are messages.
type lineReader struct {
	io.Closer
	lines *ndjson.Reader
	out   *lineWriter
	rest  string
}

func (r *lineReader) Read(b []byte) (int, error) {
	for r.rest == "" {
		line, err := r.lines.Next()
		if err != nil {
			return 0, err
		}
		if refused := check(line); refused != nil {
			r.out.refuse(jsonrpc.ReadCut(line.Text).RequestID(), refused)
		} else {
			r.rest = line.Text + "\n"
		}
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// check returns the reason why a line is refused, or nil.
func check(line ndjson.Line) *jsonrpc.Error {
	if line.TooLong {
		return jsonrpc.TooLong(line.Size, maxMessage)
	}
	text := []byte(line.Text)
	if !json.Valid(text) {
		return &jsonrpc.Error{Code: jsonrpc.CodeParse, Message: "Parse error"}
	}
	var batch []json.RawMessage
	if json.Unmarshal(text, &batch) != nil {
		batch = []json.RawMessage{text}
	}
	valid := len(batch) > 0
	for _, message := range batch {
		_, err := mcprpc.DecodeMessage(message)
		valid = valid && err == nil
	}
	if !valid {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Invalid Request"}
	}
	return nil
}
