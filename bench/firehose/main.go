// Firehose is a CLI with minimal cost: it answers initialize with a recorded response, and a prompt
// with a prepared file, written as fast as the pipe accepts it. Then it waits for the end of its
// input and exits.
//
//	FIREHOSE_INIT    the body of the answer to initialize
//	FIREHOSE_STREAM  the lines that answer a prompt, to the result and the idle state
//	FIREHOSE_STAMP   the file for the time of the first byte of the stream
//
// With the argument --spawn it writes one byte when it is ready to read its input, and exits, to
// measure the cost of its start.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"

	"github.com/seed7221b0f9/parley/bench/internal/meter"
)

// pieceSize is the size of one write, many times the capacity of the pipe.
const pieceSize = 1 << 20

func main() {
	c, err := load()
	if err == nil && len(os.Args) == 2 && os.Args[1] == "--spawn" {
		os.Stdout.WriteString("\n")
		return
	}
	if err == nil {
		err = c.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "firehose:", err)
		os.Exit(1)
	}
}

// cli holds the data that the firehose needs in memory before the measurement.
type cli struct {
	init, stream []byte
	room         []byte // buffer for a response
	stamp        *os.File
}

func load() (c cli, err error) {
	if c.init, err = os.ReadFile(os.Getenv("FIREHOSE_INIT")); err != nil {
		return c, err
	}
	c.room = make([]byte, 0, len(c.init)+200)
	if name := os.Getenv("FIREHOSE_STREAM"); name != "" {
		if c.stream, err = os.ReadFile(name); err != nil {
			return c, err
		}
	}
	if name := os.Getenv("FIREHOSE_STAMP"); name != "" {
		c.stamp, err = os.Create(name)
	}
	return c, err
}

func (c cli) run() (err error) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 0, 4<<10), 16<<20)
	for lines.Scan() {
		line := lines.Bytes()
		switch {
		case bytes.Contains(line, []byte(`"control_request"`)):
			err = c.answer(line)
		case bytes.Contains(line, []byte(`"role"`)):
			err = c.pour()
		}
		if err != nil {
			return err
		}
	}
	return lines.Err()
}

// answer answers a control request: initialize with the recording, others with an empty response.
// The request id is searched and not decoded; a decoder would take longer than the rest.
func (c cli) answer(line []byte) error {
	const member = `"request_id":"`
	compact := bytes.Replace(line, []byte(`"request_id": "`), []byte(member), 1)
	_, rest, _ := bytes.Cut(compact, []byte(member))
	id, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok {
		return fmt.Errorf("a control request without an id: %.200s", line)
	}
	body := []byte("{}")
	if bytes.Contains(line, []byte(`"initialize"`)) {
		body = c.init
	}
	out := append(c.room, `{"type":"control_response","response":{"subtype":"success","request_id":"`...)
	out = append(out, id...)
	out = append(out, `","response":`...)
	out = append(out, body...)
	_, err := os.Stdout.Write(append(out, "}}\n"...))
	return err
}

// pour records the time and writes the stream.
func (c cli) pour() error {
	if c.stamp != nil {
		if _, err := c.stamp.WriteString(strconv.FormatInt(meter.Now(), 10)); err != nil {
			return err
		}
	}
	for rest := c.stream; len(rest) > 0; {
		n, err := os.Stdout.Write(rest[:min(len(rest), pieceSize)])
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}
