package agenttest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/random"
)

// Provider is a scripted provider. Its fields must not be changed after the first use. The zero
// value keeps its sessions in memory while they run: set Dir for sessions that can be resumed.
type Provider struct {
	// ProviderName is the name in events; empty is "sim".
	ProviderName string
	// Dir is the directory of the sessions' files. It must exist.
	Dir string
	// Pause is the time between two deltas of an answer; 0 sends them without a pause.
	Pause time.Duration
	// OpenDelay is the time that Open and Resume take.
	OpenDelay time.Duration
	// Forgetful omits prompts from the files, so that after a crash it is unknown whether a prompt
	// was received.
	Forgetful bool

	mu       sync.Mutex
	sessions map[string]*Session // running sessions by id
	opened   int
}

// Name returns ProviderName, or "sim" if it is empty.
func (p *Provider) Name() string {
	if p.ProviderName == "" {
		return "sim"
	}
	return p.ProviderName
}

// Open starts a session. The first word of each prompt determines the agent's action:
//
//	say TEXT…     answers with the text
//	count N       answers with N words, one delta each
//	think TEXT…   thinks, then answers with the text
//	tool NAME     asks for permission to use a tool, then uses it
//	auto NAME     uses a tool without asking
//	big N         uses a tool whose result has N bytes
//	ask           asks the person a question
//	plan          proposes a plan
//	elicit        asks on behalf of an MCP server
//	wait          works until it is interrupted
//	stall         is silent until it is interrupted
//	cut N         streams N words and dies before the message is whole
//	die           dies
//	task          starts a task in the background
//	fail          ends the turn with an error
//	model         answers with the model's name, mode and thinking budget
//
// Any other prompt is answered with itself.
func (p *Provider) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	id := opts.ID
	if id == "" {
		id = random.UUID()
	}
	return p.start(ctx, id, opts)
}

// Resume continues a session with a file in Dir, or a copy of it if opts.Fork is set.
func (p *Provider) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	if _, err := p.read(id); err != nil {
		return nil, err
	}
	if opts.Fork {
		fork, err := p.fork(id, opts.At)
		if err != nil {
			return nil, err
		}
		id = fork
	}
	return p.start(ctx, id, opts)
}

func (p *Provider) start(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	if p.OpenDelay > 0 {
		timer := time.NewTimer(p.OpenDelay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sessions[id] != nil {
		return nil, fmt.Errorf("%w: %s", agent.ErrBusy, id)
	}
	s := newSession(p, id, opts)
	if p.sessions == nil {
		p.sessions = map[string]*Session{}
	}
	p.sessions[id] = s
	p.opened++
	go s.run()
	return s, nil
}

// Running returns the number of sessions that have not ended, so that tests can detect leaks.
func (p *Provider) Running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sessions)
}

// Opened returns the number of sessions opened or resumed so far, including ended ones.
func (p *Provider) Opened() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened
}

// Session returns the running session with the id, or nil.
func (p *Provider) Session(id string) *Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sessions[id]
}

func (p *Provider) ended(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, id)
}

// Delivered searches the session's file for a prompt. Without a file the result is unknown.
func (p *Provider) Delivered(_ context.Context, sessionID, uuid string) (agent.Delivery, error) {
	lines, err := p.read(sessionID)
	if errors.Is(err, agent.ErrNotFound) {
		return agent.DeliveryUnknown, nil
	}
	if err != nil {
		return agent.DeliveryUnknown, err
	}
	for _, l := range lines {
		if l.UUID == uuid {
			return agent.Delivered, nil
		}
	}
	return agent.DeliveryUnknown, nil
}

// line is a line of a session's file.
type line struct {
	Role string `json:"role"` // user, assistant, title, tag
	UUID string `json:"uuid"`
	Text string `json:"text"`
	Dir  string `json:"dir,omitempty"`
	Time string `json:"time"`
}

func (p *Provider) path(id string) (string, error) {
	if id == "" || strings.ContainsAny(id, `/\.`) {
		return "", fmt.Errorf("%w: session %q", agent.ErrNotFound, id)
	}
	return filepath.Join(p.Dir, id+".jsonl"), nil
}

func (p *Provider) write(id string, l line) error {
	if p.Dir == "" || p.Forgetful && l.Role == "user" {
		return nil
	}
	name, err := p.path(id)
	if err != nil {
		return err
	}
	l.Time = time.Now().UTC().Format(time.RFC3339Nano)
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	return errors.Join(err, f.Close())
}

func (p *Provider) read(id string) ([]line, error) {
	name, err := p.path(id)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) || p.Dir == "" {
		return nil, fmt.Errorf("%w: session %s", agent.ErrNotFound, id)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines []line
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var l line
		if json.Unmarshal(scanner.Bytes(), &l) == nil { // a torn line is skipped
			lines = append(lines, l)
		}
	}
	return lines, scanner.Err()
}

// fork copies a session up to the line with the uuid at, or all of it.
func (p *Provider) fork(id, at string) (string, error) {
	lines, err := p.read(id)
	if err != nil {
		return "", err
	}
	fork, found := random.UUID(), at == ""
	for _, l := range lines {
		if err := p.write(fork, l); err != nil {
			return "", err
		}
		if at != "" && l.UUID == at {
			found = true
			break
		}
	}
	if !found {
		return "", fmt.Errorf("%w: message %s", agent.ErrNotFound, at)
	}
	return fork, nil
}
