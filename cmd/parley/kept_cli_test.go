package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/claudedir"
)

const (
	// diaryVariable names the folder in which a scripted CLI keeps copies of its input and output.
	diaryVariable = "PARLEY_TEST_DIARY"
	// keptProgram is the name of the scripted CLI.
	keptProgram = "kept"
	// keptPace is the time between lines of the scripted CLI.
	keptPace = time.Millisecond
)

// diary copies the standard input and output of a process to files.
type diary struct{ done chan struct{} }

// openDiary replaces the standard input and output if this process is a scripted CLI with a diary. It returns nil in other
// processes.
func openDiary() *diary {
	dir := os.Getenv(diaryVariable)
	if dir == "" || slices.Equal(os.Args[1:], []string{"--version"}) {
		return nil
	}
	in, inWriter := must2(os.Pipe())
	outReader, out := must2(os.Pipe())
	d := &diary{done: make(chan struct{})}
	go d.copy(filepath.Join(dir, fmt.Sprint(os.Getpid(), ".in")), os.Stdin, inWriter, nil)
	go d.copy(filepath.Join(dir, fmt.Sprint(os.Getpid(), ".out")), outReader, os.Stdout, d.done)
	os.Stdin, os.Stdout = in, out
	return d
}

func must2(r, w *os.File, err error) (*os.File, *os.File) {
	if err != nil {
		panic(err)
	}
	return r, w
}

// copy passes data on after writing it to a file, so that the file contains everything that the other side
// may have read.
func (d *diary) copy(name string, from, to *os.File, done chan struct{}) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.MultiWriter(file, to), from) // the end of either side ends the other
	file.Close()
	to.Close()
	if done != nil {
		close(done)
	}
}

// close waits until the output is copied.
func (d *diary) close() {
	if d != nil {
		os.Stdout.Close()
		<-d.done
	}
}

// keptCLI returns a scripted CLI. Each of its turns streams text, asks for two permissions at once, and runs a subagent with a tool.
func keptCLI(d *diary) claudetest.Program {
	return func(c *claudetest.CLI) int {
		defer d.close()
		if err := noteChild(c); err != nil {
			c.Stderr("%v\n", err)
			return 1
		}
		if _, err := c.Handshake(); err != nil {
			return 1
		}
		for {
			p, err := c.Prompt()
			if err != nil {
				return 0
			}
			if err := noteTranscript(c, p); err != nil {
				c.Stderr("%v\n", err)
				return 1
			}
			c.BeginTurn()
			text := p.Message.Content.String()
			keptTurn{c}.play(text)
			c.EndTurn(c.Result("The end of " + text + "."))
		}
	}
}

// noteTranscript adds a prompt to the session's transcript, because a session without a transcript
// cannot be resumed.
func noteTranscript(c *claudetest.CLI, p *message.User) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	dir := filepath.Join(claudedir.Projects(claudedir.Config(os.Getenv)), claudedir.Project(os.Getenv, cwd))
	line, err := json.Marshal(map[string]any{
		"type": "user", "uuid": p.UUID, "parentUuid": nil, "sessionId": c.SessionID, "cwd": cwd, "version": claudetest.FakeVersion, "isSidechain": false,
		"timestamp": time.Now().UTC().Format(time.RFC3339Nano), "message": map[string]any{"role": "user", "content": p.Message.Content.String()},
	})
	if err := errors.Join(err, os.MkdirAll(dir, 0o700)); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, c.SessionID+".jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// childVariable makes the scripted CLI start a process in another session.
const childVariable = "PARLEY_TEST_CHILD"

// noteChild starts a child, if the variable is set, and writes its process id to the diary.
func noteChild(c *claudetest.CLI) error {
	if os.Getenv(childVariable) == "" {
		return nil
	}
	pid, err := c.Grandchild(true)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(os.Getenv(diaryVariable), fmt.Sprint(os.Getpid(), ".child")), fmt.Append(nil, pid), 0o600)
}

// keptTurn plays a turn.
type keptTurn struct{ c *claudetest.CLI }

func (k keptTurn) play(text string) {
	k.emit(k.c.StreamText(pieces("First of all, " + text + " begins with some words that come one by one.")...)...)
	k.tools("", "left", "right")
	agent := k.c.ToolUseID()
	k.emit(k.c.StreamToolUse(agent, "Task", map[string]any{"description": "look", "prompt": "look around", "subagent_type": "general-purpose"}, 20)...)
	task := "task_" + agent
	k.emit(k.c.TaskStarted(task, "local_agent", "look", agent))
	k.tools(agent, "below")
	said := k.c.AssistantText("I have looked around in " + text + ".")
	said.ParentToolUseID = agent
	k.emit(said, k.c.TaskNotification(task, message.TaskCompleted, "looked"), k.c.UserToolResult(agent, "I have looked around."))
	k.emit(k.c.StreamText(pieces("Here are the last words of " + text + ", which say that all of it is done.")...)...)
}

// tools calls tools at the same time; each waits for a person's answer.
func (k keptTurn) tools(parent string, names ...string) {
	var ids []string
	var open []*claudetest.Pending
	for _, name := range names {
		id := k.c.ToolUseID()
		input := map[string]any{"command": "echo " + name, "description": name}
		use := k.c.AssistantToolUse(id, "Bash", input)
		use.ParentToolUseID = parent
		k.emit(use)
		ids = append(ids, id)
		open = append(open, k.c.StartRequest("can_use_tool", map[string]any{"tool_name": "Bash", "input": input, "tool_use_id": id}))
	}
	for i, p := range open {
		response, err := p.Wait()
		var answer struct{ Behavior, Message string }
		if err == nil {
			err = json.Unmarshal(response, &answer)
		}
		result := k.c.UserToolResult(ids[i], names[i]+" has run")
		if err != nil || answer.Behavior != "allow" {
			result = k.c.UserToolError(ids[i], fmt.Sprint(names[i], " has not run: ", answer.Message, err))
		}
		result.ParentToolUseID = parent
		k.emit(result)
	}
}

// emit writes messages one by one.
func (k keptTurn) emit(messages ...message.Message) {
	for _, m := range messages {
		k.c.Emit(m)
		<-time.After(keptPace)
	}
}

// pieces are the words of a text.
func pieces(text string) []string { return strings.SplitAfter(text, " ") }

// diaryLines are the lines of a copied stream of the CLI with this process id.
func diaryLines(t *testing.T, dir string, pid int, stream string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(pid, ".", stream)))
	if err != nil {
		t.Fatal(err)
	}
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}
