//go:build unix

package host

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// greeted returns frames of an owner, starting with a hello.
func greeted(f *testing.F, more ...request) (text []byte) {
	for i, q := range append([]request{{Op: opHello, Version: Version, Epoch: 1}}, more...) {
		q.ID = uint64(i + 1)
		frame, err := jsonFrame(frameRequest, q)
		if err != nil {
			f.Fatal(err)
		}
		text = append(text, frame...)
	}
	return text
}

// drained writes text to a connection, reads the answer, and closes the connection.
func drained(t *testing.T, conn net.Conn, text []byte) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		for buf := make([]byte, 4096); ; {
			if _, err := conn.Read(buf); err != nil {
				return
			}
		}
	}()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = conn.Write(text) // the other end may have hung up
	conn.Close()
	<-read
}

// FuzzOwner sends arbitrary bytes to a host and to a relay. Both close the connection in time, and the relay starts
// only agents that its policy offers.
func FuzzOwner(f *testing.F) {
	start := request{Op: opSpawn, Launch: &Launch{Agent: "echo", Dir: "/srv/a"}, Options: &AgentOptions{Key: "s"}, Window: window}
	f.Add(greeted(f))
	f.Add(greeted(f, start, request{Op: opList}, request{Op: opAttach, Agent: 1}, request{Op: opCheckpoint, Agent: 1, Number: 1}))
	f.Add(append(greeted(f, start), writeFrames(nil, 1, "id", []byte("line\n"))...))
	f.Add(append(greeted(f, start), endFrame(append(beginFrame(nil, frameWrite), 0, 0, 0, 1, flagMore, 1, 'x', 'y'), 0)...))
	f.Add([]byte{0, 0, 0, 1, 'x'})
	f.Add([]byte{255, 255, 255, 255, frameRequest})
	f.Fuzz(func(t *testing.T, text []byte) {
		h := newFakeHost(t, Options{}, echoAgent)
		policy := &testPolicy{}
		drained(t, h.relayed(policy), text)
		h.wg.Wait()
		if started := len(h.all()); started > len(policy.commands) {
			t.Errorf("%d agents run, and the policy has offered %d", started, len(policy.commands))
		}
		ours, theirs := net.Pipe()
		h.wg.Go(func() { h.serve(theirs) })
		drained(t, ours, text)
		h.wg.Wait()
	})
}

// FuzzRegistration reads arbitrary bytes of a joining machine. A machine is registered exactly as it was checked, or
// refused.
func FuzzRegistration(f *testing.F) {
	frame, err := jsonFrame(frameRegister, Registration{Version: Version, Name: "m"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(frame)
	f.Add(frame[:3])
	f.Add([]byte{255, 255, 255, 255, frameRegister})
	f.Fuzz(func(t *testing.T, text []byte) {
		ours, theirs := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			var seen Registration
			r, err := AcceptRegistration(context.Background(), theirs, func(r Registration) error { seen = r; return nil })
			if err == nil && r.Name != seen.Name {
				t.Errorf("%q was registered, and %q checked", r.Name, seen.Name)
			}
			theirs.Close()
		}()
		drained(t, ours, text)
		<-done
	})
}

// FuzzSpool reads arbitrary files of a dead host's agents. It returns each agent with its records in order, or an
// error, and removes no file.
func FuzzSpool(f *testing.F) {
	agent, err := json.Marshal(Agent{Number: 1, Key: "s"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(agent, []byte{0, 0, 0, 0, 0, 0, 0, 1, 's'}, []byte{0, 0, 0, 1, frameData})
	f.Add([]byte(`{`), []byte{1}, []byte{})
	f.Add(agent, []byte{}, append([]byte{0, 0, 0, 20, frameData}, make([]byte, 19)...))
	f.Fuzz(func(t *testing.T, agent, state, records []byte) {
		data := t.TempDir()
		dir := filepath.Join(data, folder, deadName, "1")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string][]byte{agentFile: agent, stateFile: state, segmentPrefix + strings.Repeat("0", 20): records} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all, _ := ReadSpool(data) // an unreadable agent is reported as an error
		for _, d := range all {
			p, last := d.Process(), uint64(0)
			for {
				r, err := p.NextLine(t.Context())
				if err != nil {
					break
				}
				if r.Number <= last || r.Number > d.Last {
					t.Errorf("line %d follows %d, of %d", r.Number, last, d.Last)
				}
				last = r.Number
			}
		}
		if _, err := os.Stat(filepath.Join(dir, agentFile)); err != nil {
			t.Errorf("after it was read: %v, want the files until Remove", err)
		}
	})
}

// FuzzEpoch reads epochs from arbitrary files. The epochs increase, or the file is an error.
func FuzzEpoch(f *testing.F) {
	for _, text := range []string{"", "7\n", "-1", "18446744073709551615", "x"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, folder, epochName), text, 0o600); err != nil {
			t.Fatal(err)
		}
		first, err := NextEpoch(dir)
		if err != nil {
			return
		}
		if second, err := NextEpoch(dir); err == nil && second <= first {
			t.Errorf("of %q the epoch %d follows %d", text, second, first)
		}
	})
}
