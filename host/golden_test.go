//go:build unix

package host

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

var update = flag.Bool("update", false, "write the golden sessions")

// goldenAgent writes to stdout or to stderr on request.
func goldenAgent(stdin *bufio.Reader, stdout, stderr io.Writer) int {
	for {
		line, err := stdin.ReadString('\n')
		switch {
		case err != nil:
			return 3
		case line == "note\n":
			fmt.Fprint(stderr, "a note\n")
		default:
			fmt.Fprint(stdout, "got "+line)
		}
	}
}

// goldenStep is an action of an owner, with the number of frames that the host sends for it.
type goldenStep struct {
	frames int
	act    func(t *testing.T, g *goldenOwner)
}

type goldenOwner struct {
	l *Link
	p *Process
}

// goldenSteps are a session with every frame and every operation except stop.
var goldenSteps = []goldenStep{
	{1, nil}, // the greeting
	{1, func(t *testing.T, g *goldenOwner) {
		g.p = spawnAgent(t, g.l, spawn.Command{Path: "/bin/agent", Args: []string{"--flag"}, Dir: "/tmp", Env: []string{"A=1"}}, AgentOptions{Key: "key"})
	}},
	{4, func(t *testing.T, g *goldenOwner) { goldenWrite(t, g, "one", "hello\n") }},
	{4, func(t *testing.T, g *goldenOwner) { goldenWrite(t, g, "two", "note\n") }},
	{1, func(t *testing.T, g *goldenOwner) { _, err := g.p.Input(within(t), "one"); must(t, err) }},
	{1, func(t *testing.T, g *goldenOwner) { must(t, g.p.Checkpoint(within(t), 1, []byte("state"))) }},
	{1, func(t *testing.T, g *goldenOwner) {
		must(t, g.p.SetOrphan(within(t), AgentOptions{OrphanTimeout: time.Minute, OrphanInput: []byte("stop\n")}))
	}},
	{1, func(t *testing.T, g *goldenOwner) { _, err := g.l.Agents(within(t)); must(t, err) }},
	{1, func(t *testing.T, g *goldenOwner) {
		if _, err := g.l.Attach(within(t), 1, 1); err == nil {
			t.Error("attached twice")
		}
	}},
	{0, func(t *testing.T, g *goldenOwner) { must(t, g.l.send(grantFrame(1, 1000, 0))) }},
	{1, func(t *testing.T, g *goldenOwner) { must(t, g.p.Terminate()) }},
	{5, func(t *testing.T, g *goldenOwner) { must(t, g.p.CloseInput()); _, err := g.p.Wait(); must(t, err) }},
	{1, func(t *testing.T, g *goldenOwner) { must(t, g.p.Forget(within(t))) }},
}

func goldenWrite(t *testing.T, g *goldenOwner, id, line string) {
	t.Helper()
	_, err := g.p.Write(within(t), id, []byte(line))
	must(t, err)
}

// goldenHost returns a host with deterministic answers.
func goldenHost(t *testing.T) *fakeHost {
	t.Helper()
	h := newFakeHost(t, Options{}, goldenAgent)
	clock := newFakeClock()
	h.clock = clock
	h.info = Info{ID: "0123", PID: 42, Started: clock.now}
	return h
}

// goldenLog is a session: for each step the frames of the owner and those of the host, the latter sorted because the
// order of answers and records varies.
type goldenLog [][2][]string

func (g goldenLog) String() string {
	var b strings.Builder
	for i, step := range g {
		fmt.Fprintf(&b, "# step %d\n", i+1)
		for side, frames := range step {
			for _, frame := range frames {
				fmt.Fprintf(&b, "%c %s\n", "><"[side], strconv.Quote(frame))
			}
		}
	}
	return b.String()
}

func readGolden(t *testing.T, file string) (g goldenLog) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			g = append(g, [2][]string{})
			continue
		}
		frame, err := strconv.Unquote(strings.TrimSpace(line[2:]))
		must(t, err)
		side := strings.IndexByte("><", line[0])
		g[len(g)-1][side] = append(g[len(g)-1][side], frame)
	}
	return g
}

// takeFrames reads raw frames.
func takeFrames(t *testing.T, r *frameReader, n int) (frames []string) {
	t.Helper()
	for range n {
		kind, payload, err := r.next()
		if err != nil {
			t.Errorf("after %d of %d frames: %v", len(frames), n, err)
			return frames
		}
		frames = append(frames, string(endFrame(append(beginFrame(nil, kind), payload...), 0)))
	}
	return frames
}

const goldenFile = "testdata/session-v1.txt"

// The host's answers to an owner of each version do not change. With -update the session of this version is recorded.
func TestGolden_host(t *testing.T) {
	if *update {
		recordGolden(t, goldenFile)
	}
	files, err := filepath.Glob("testdata/session-v*.txt")
	if err != nil || len(files) < Version {
		t.Fatalf("files is %v, err is %v; want err == nil and len(files) >= Version", files, err)
	}
	for _, file := range files {
		h := goldenHost(t)
		ours, theirs := net.Pipe()
		h.wg.Go(func() { h.serve(theirs) })
		frames := &frameReader{r: ours}
		for i, step := range readGolden(t, file) {
			for _, frame := range step[0] {
				_, err := io.WriteString(ours, frame)
				must(t, err)
			}
			got := takeFrames(t, frames, len(step[1]))
			slices.Sort(got)
			if !slices.Equal(got, step[1]) {
				t.Fatalf("%s, step %d: the host sends\n%q, want\n%q", file, i+1, got, step[1])
			}
		}
		ours.Close()
	}
}

// The owner's frames do not change, and it understands the host of each version.
func TestGolden_owner(t *testing.T) {
	ours, theirs := net.Pipe()
	golden := readGolden(t, goldenFile)
	next := make(chan struct{})
	played := make(chan struct{})
	go func() {
		defer close(played)
		frames := &frameReader{r: theirs}
		for i, step := range golden {
			if got := takeFrames(t, frames, len(step[0])); !slices.Equal(got, step[0]) {
				t.Errorf("step %d: the owner sends\n%q, want\n%q", i+1, got, step[0])
			}
			for _, frame := range step[1] {
				if _, err := io.WriteString(theirs, frame); err != nil {
					t.Error(err)
				}
			}
			next <- struct{}{}
		}
	}()
	l, err := newLink(within(t), ours, 1)
	must(t, err)
	defer l.Close()
	g := &goldenOwner{l: l}
	<-next
	for _, s := range goldenSteps[1:] {
		s.act(t, g)
		<-next
	}
	<-played
}

// recordGolden writes the session of this version.
func recordGolden(t *testing.T, file string) {
	h := goldenHost(t)
	ours, far := net.Pipe()
	near, theirs := net.Pipe()
	h.wg.Go(func() { h.serve(theirs) })
	var owner []string
	toHost := make(chan string, 100)
	go func() {
		defer close(toHost)
		for frames := (&frameReader{r: far}); ; {
			kind, payload, err := frames.next()
			if err != nil {
				return
			}
			frame := string(endFrame(append(beginFrame(nil, kind), payload...), 0))
			toHost <- frame
			_, _ = io.WriteString(near, frame)
		}
	}()
	g := &goldenOwner{}
	linked := make(chan struct{})
	go func() {
		defer close(linked)
		var err error
		if g.l, err = newLink(within(t), ours, 1); err != nil {
			t.Error(err)
		}
	}()
	var log goldenLog
	frames := &frameReader{r: near}
	for i, s := range goldenSteps {
		done := linked
		if i > 0 {
			done = make(chan struct{})
			go func() {
				defer close(done)
				s.act(t, g)
			}()
		}
		host := takeFrames(t, frames, s.frames)
		for _, frame := range host {
			_, err := io.WriteString(far, frame)
			must(t, err)
		}
		<-done
		owner = nil
		for len(owner) == 0 || len(toHost) > 0 {
			owner = append(owner, <-toHost)
		}
		slices.Sort(host)
		log = append(log, [2][]string{owner, host})
	}
	g.l.Close()
	near.Close()
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(t, os.WriteFile(file, []byte(log.String()), 0o600))
}
