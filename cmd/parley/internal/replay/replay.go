// Package replay plays a recorded conversation with Claude Code in place of its program.
package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/ndjson"
	"github.com/seed7221b0f9/parley/internal/tape"
	"github.com/seed7221b0f9/parley/spawn"
)

// longestPause limits the pause between two lines of a recording.
const longestPause = 3 * time.Second

// exitLimit limits how long a recording continues without input.
const exitLimit = 10 * time.Second

// Use makes o play the recording in a directory. A single prompt gets all of it; otherwise
// each prompt gets the output of one recorded prompt.
func Use(o *claude.Options, dir string, atOnce, onePrompt bool) (note string, err error) {
	if _, err := os.Stat(dir); err != nil {
		return "", term.Usagef("--agent replay: %v", err)
	}
	process, hints, err := tape.Read(dir)
	if err != nil {
		return "", term.Usagef("--agent replay: %v", err)
	}
	if process == nil {
		return "", term.Usagef("--agent replay: no agent was started in %s", dir)
	}
	o.Spawner = &spawner{player: tape.NewPlayer(arrange(process, onePrompt), hints), process: process, atOnce: atOnce}
	// A recording with more prompts than now would wait forever.
	o.ExitTimeout = exitLimit
	return fmt.Sprintf("This is the recording %s: no model is asked.", filepath.Base(filepath.Clean(dir))), nil
}

// arrange returns a recorded process that waits only for prompts: the first, and the next
// after each result.
func arrange(p *tape.Process, onePrompt bool) *tape.Process {
	var prompts, rest []tape.Event
	q := *p
	q.Timeline = nil
	for _, ev := range p.Timeline {
		switch {
		case ev.Dir == "in" && ev.Type == "user":
			prompts = append(prompts, ev)
		case ev.Dir == "in" && ev.Subtype == "initialize":
			q.Timeline = append(q.Timeline, ev)
		case ev.Dir != "in" || ev.Ev != "line":
			rest = append(rest, ev)
		}
	}
	due := true
	for _, ev := range rest {
		answer := ev.Type == "control_response"
		if due && !answer && ev.Dir == "out" && len(prompts) > 0 {
			q.Timeline = append(q.Timeline, prompts[0])
			prompts, due = prompts[1:], false
		}
		q.Timeline = append(q.Timeline, ev)
		due = due || ev.Type == "result" && !onePrompt
	}
	return &q
}

// spawner plays a recording with its pauses, for the current prompts.
type spawner struct {
	player  *tape.Player
	process *tape.Process
	atOnce  bool
}

// Spawn starts playing.
func (r *spawner) Spawn(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
	inner, err := r.player.Spawn(ctx, cmd)
	if err != nil {
		return nil, err
	}
	p := &process{Process: inner, stop: make(chan struct{}), drained: make(chan struct{})}
	p.read, p.write = io.Pipe()
	if !r.atOnce {
		p.pauses = pauses(r.process)
	}
	go p.play()
	return p, nil
}

// pauses returns the times before each line of the output, since the previous line in either
// direction.
func pauses(p *tape.Process) []time.Duration {
	var list []time.Duration
	last := 0.0
	for _, ev := range p.Timeline {
		if ev.Dir == "out" && ev.Ev == "line" {
			pause := time.Duration((ev.TMS - last) * float64(time.Millisecond))
			list = append(list, max(min(pause, longestPause), 0))
		}
		last = ev.TMS
	}
	return list
}

// process is a played process.
type process struct {
	spawn.Process
	read    *io.PipeReader
	write   *io.PipeWriter
	pauses  []time.Duration
	stop    chan struct{} // closed when it should end
	stopped sync.Once
	drained chan struct{} // closed when all output was read
}

// play passes the output on, each line at its time.
func (p *process) play() {
	defer close(p.drained)
	defer p.write.Close()
	lines := ndjson.NewReader(p.Process.Stdout(), 1<<30)
	for i := 0; ; i++ {
		line, err := lines.Next()
		if err != nil {
			return
		}
		if i < len(p.pauses) {
			p.pause(p.pauses[i])
		}
		if text, ok := nameless(line.Text); ok {
			if _, err := io.WriteString(p.write, text+"\n"); err != nil {
				return
			}
		}
	}
}

func (p *process) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.stop:
	}
}

// nameless removes the prompt ids from a recorded line, because those of the replay differ; without
// ids, answers belong to the prompts in order. ok is false for a line that only reports such an id.
func nameless(line string) (text string, ok bool) {
	if !strings.Contains(line, `"user_message_uuid`) && !strings.Contains(line, `"command_lifecycle"`) {
		return line, true
	}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &members) != nil {
		return line, true
	}
	if string(members["type"]) == `"command_lifecycle"` {
		return "", false
	}
	delete(members, "user_message_uuid")
	delete(members, "user_message_uuids")
	without, err := json.Marshal(members)
	if err != nil {
		return line, true
	}
	return string(without), true
}

// Stdout returns the output, paced like the recording.
func (p *process) Stdout() io.ReadCloser { return p.read }

// Terminate ends the process and its pauses.
func (p *process) Terminate() error {
	p.stopped.Do(func() { close(p.stop) })
	return p.Process.Terminate()
}

// Kill ends everything.
func (p *process) Kill() error {
	p.stopped.Do(func() { close(p.stop) })
	p.read.Close()
	return p.Process.Kill()
}

// Wait waits until the output was read, because the pauses are part of the process.
func (p *process) Wait() (spawn.ExitStatus, error) {
	<-p.drained
	return p.Process.Wait()
}
