package claudetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
)

// leaky answers with secrets: whole, in pieces, in JSON in pieces, on stderr.
func leaky(cli *claudetest.CLI) int {
	cli.Info.Account.Email = "ada@corp.example.org"
	_, _ = cli.Handshake()
	if _, err := cli.Prompt(); err != nil {
		return 1
	}
	cli.BeginTurn()
	cli.Stream("the key ", "is sk-ant", "-api03-made", "up-0000 ", "and that is it")
	id := cli.ToolUseID()
	cli.Emit(cli.StreamToolUse(id, "Bash", map[string]any{"command": `curl -H "x-api-key: madeup-1111" https://u:madeup2222@example.com`}, 5))
	cli.Emit(cli.UserToolResult(id, "DB_PASSWORD=madeup-3333\n\tok <b>"))
	cli.Emit("junk with TOKEN_SECRET=madeup-4444")
	cli.EndTurn(cli.ResultAPIError(401, "bad key sk-ant-api03-madeup-5555"))
	cli.Stderr("fatal: AWS_SECRET_ACCESS_KEY=madeup-6666\n")
	return 1
}

// record runs a prompt through a recorder.
func record(t *testing.T, program claudetest.Program, prompt string) (recording []byte, got []string, err error) {
	t.Helper()
	var b bytes.Buffer
	opts := quiet(&claude.Options{Spawner: claudetest.InProcess(program), IncludePartialMessages: true})
	rec := claudetest.NewRecorder(claude.ProcessTransport(opts), &b)
	opts.Transport = rec
	got, err = gather(claude.Query(t.Context(), prompt, opts))
	if rec.Err() != nil {
		t.Errorf("rec.Err() is %v; want rec.Err() == nil", rec.Err())
	}
	return b.Bytes(), got, err
}

// gather returns the messages of an iterator as lines.
func gather(seq iter.Seq2[message.Message, error]) (lines []string, err error) {
	for m, e := range seq {
		if e != nil {
			err = e
			continue
		}
		lines = append(lines, string(m.Raw()))
	}
	return lines, err
}

func TestRecorderRedacts(t *testing.T) {
	recording, got, err := record(t, leaky, "my password: madeup-7777")
	if failed, ok := errors.AsType[*message.ResultError](err); !ok || !strings.Contains(failed.Error(), "madeup-5555") {
		t.Errorf("the session itself is not redacted: %v", err)
	}
	if !strings.Contains(strings.Join(got, "\n"), "madeup-1111") {
		t.Error("the session itself is not redacted")
	}
	if i := bytes.Index(recording, []byte("madeup")); i >= 0 {
		t.Errorf("left in the recording: …%s", recording[max(0, i-200):min(len(recording), i+100)])
	}
	if bytes.Contains(recording, []byte("ada@corp")) {
		t.Error("the address of the account is left in the recording")
	}
	// Pieces of secrets that are split over several lines.
	for _, piece := range []string{`"-api03-made"`, `"up-0000 "`, `is sk-ant`} {
		if bytes.Contains(recording, []byte(piece)) {
			t.Errorf("%s is left in the recording", piece)
		}
	}
	var last claudetest.Entry
	deltas := ""
	before := -1.0
	for line := range bytes.Lines(recording) {
		last = claudetest.Entry{}
		if err := json.Unmarshal(line, &last); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if last.MS < before {
			t.Errorf("time goes back: %s", line)
		}
		before = last.MS
		if m, err := message.Decode(last.Line); err == nil {
			if e, ok := m.(*message.StreamEvent); ok {
				deltas += e.TextDelta()
			}
		}
	}
	if deltas != "the key is [redacted] and that is it" {
		t.Errorf("the deltas give %q", deltas)
	}
	want := claudetest.Entry{MS: last.MS, Dir: "proc", Event: "exit", Code: 1, Stderr: "fatal: AWS_SECRET_ACCESS_KEY=[redacted]\n"}
	if diff := cmp.Diff(want, last); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRecorderOfDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	opts := quiet(&claude.Options{Spawner: claudetest.InProcess(echo)})
	rec := claudetest.NewDirRecorder(claude.ProcessTransport(opts), dir)
	opts.Transport = rec
	for _, prompt := range []string{"one", "two"} {
		if _, err := claude.Run(t.Context(), prompt, opts); err != nil {
			t.Fatal(err)
		}
	}
	play, err := claudetest.NewDirReplayer(dir)
	if err != nil || rec.Err() != nil {
		t.Fatalf("err is %v, rec.Err() is %v; want err == nil and rec.Err() == nil", err, rec.Err())
	}
	opts.Transport = play
	for _, prompt := range []string{"one", "two"} {
		result, err := claude.Run(t.Context(), prompt, opts)
		if err != nil || result.Result != prompt {
			t.Errorf("%s: got %+v, %v", prompt, result, err)
		}
	}
	if _, err := claude.Run(t.Context(), "three", opts); err == nil || play.Err() != nil {
		t.Errorf("a third: %v, %v", err, play.Err())
	}
	info, err := os.Stat(filepath.Join(dir, "001.jsonl"))
	if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("others may read a recording: %v, %v", info, err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A failure to write the recording does not affect the session.
func TestRecorderWriteError(t *testing.T) {
	opts := quiet(&claude.Options{Spawner: claudetest.InProcess(echo)})
	rec := claudetest.NewRecorder(claude.ProcessTransport(opts), brokenWriter{})
	opts.Transport = rec
	if _, err := claude.Run(t.Context(), "hello", opts); err != nil {
		t.Error(err)
	}
	if !errors.Is(rec.Err(), io.ErrShortWrite) {
		t.Errorf("Err is %v", rec.Err())
	}
	// Err returns the first of several errors.
	worse := &worseWriter{}
	opts.Transport = nil
	rec = claudetest.NewRecorder(claude.ProcessTransport(opts), worse)
	opts.Transport = rec
	if _, err := claude.Run(t.Context(), "hello", opts); err != nil {
		t.Error(err)
	}
	if err := rec.Err(); err == nil || !strings.HasSuffix(err.Error(), "error 1") || worse.n < 2 {
		t.Errorf("Err is %v of %d", err, worse.n)
	}
}

// worseWriter returns another error each time.
type worseWriter struct{ n int }

func (w *worseWriter) Write([]byte) (int, error) {
	w.n++
	return 0, fmt.Errorf("error %d", w.n)
}

func replayer(t *testing.T, recording []byte) *claudetest.Replayer {
	t.Helper()
	r, err := claudetest.NewReplayer(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A recording can be replayed any number of times and always returns the same messages.
func TestReplay(t *testing.T) {
	recording, got, _ := record(t, streams, "hello")
	play := replayer(t, recording)
	for range 3 {
		again, err := gather(claude.Query(t.Context(), "hello", quiet(&claude.Options{Transport: play, IncludePartialMessages: true})))
		if diff := cmp.Diff(got, again); diff != "" || err != nil || play.Err() != nil {
			t.Errorf("%v, %v, %s; want diff == \"\" and err == nil and play.Err() == nil", err, play.Err(), diff)
		}
	}
}

// A replay includes the exit status of the CLI.
func TestReplayExit(t *testing.T) {
	dies := func(cli *claudetest.CLI) int {
		_, _ = cli.Handshake()
		_, _ = cli.Prompt()
		cli.BeginTurn()
		cli.Emit("no JSON at all")
		cli.Stderr("bad luck\n")
		return 3
	}
	recording, got, _ := record(t, dies, "hello")
	again, err := gather(claude.Query(t.Context(), "hello", quiet(&claude.Options{Transport: replayer(t, recording)})))
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("the values differ:\n%s", diff)
	}
	if exit, ok := errors.AsType[*claude.ExitError](err); !ok || exit.Code != 3 || exit.Stderr != "bad luck\n" {
		t.Errorf("got %v", err)
	}
}

// converse runs two turns with control requests.
func converse(ctx context.Context, opts *claude.Options, model string) (out []string, err error) {
	client, err := claude.Connect(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	for _, prompt := range []string{"one", "two"} {
		var answer struct{ Model string }
		if err := client.Control(ctx, "set_model", map[string]any{"model": model}, &answer); err != nil {
			return out, err
		}
		out = append(out, answer.Model)
		for m, err := range client.Query(ctx, prompt) {
			if err != nil {
				return out, err
			}
			if r, ok := m.(*message.Result); ok {
				out = append(out, r.Result)
			}
		}
	}
	return out, errors.Join(client.CloseInput(), client.Wait())
}

// A second run has other ids: the replayer rewrites those of the recording.
func TestReplayConversation(t *testing.T) {
	var b bytes.Buffer
	opts := quiet(&claude.Options{Spawner: claudetest.InProcess(echo)})
	opts.Transport = claudetest.NewRecorder(claude.ProcessTransport(opts), &b)
	want, err := converse(t.Context(), opts, "m")
	if err != nil || len(want) != 4 {
		t.Fatalf("want is %v, err is %v; want err == nil and len(want) == 4", want, err)
	}
	play := replayer(t, b.Bytes())
	got, err := converse(t.Context(), quiet(&claude.Options{Transport: play}), "m")
	if diff := cmp.Diff(want, got); diff != "" || err != nil || play.Err() != nil {
		t.Errorf("%v, %v, %s; want diff == \"\" and err == nil and play.Err() == nil", err, play.Err(), diff)
	}

	// Strict: different content is an error that names it.
	_, err = converse(t.Context(), quiet(&claude.Options{Transport: play}), "other")
	mismatch, ok := errors.AsType[*claudetest.ReplayError](play.Err())
	if err == nil || !ok || !strings.Contains(string(mismatch.Got), "other") || !strings.Contains(mismatch.Error(), "want") {
		t.Errorf("strict: %v, %v", err, play.Err())
	}

	// Lenient: different content is accepted, and requests that are not in the recording
	// are refused.
	play = replayer(t, b.Bytes())
	play.Lenient = true
	got, err = converse(t.Context(), quiet(&claude.Options{Transport: play}), "other")
	if diff := cmp.Diff(want, got); diff != "" || err != nil || play.Err() != nil {
		t.Errorf("lenient: %v, %v, %s", err, play.Err(), diff)
	}
	client, err := claude.Connect(t.Context(), quiet(&claude.Options{Transport: play}))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Control(t.Context(), "interrupt", nil, nil); !errors.Is(err, claude.ErrUnsupported) {
		t.Errorf("interrupt: %v", err)
	}
	client.Close()
}

// Strict: additional lines and missing lines are errors.
func TestReplayStrict(t *testing.T) {
	recording, _, _ := record(t, echo, "hello")
	play := replayer(t, recording)
	client, err := claude.Connect(t.Context(), quiet(&claude.Options{Transport: play}))
	if err == nil {
		err = client.Control(t.Context(), "interrupt", nil, nil)
		client.Close()
	}
	if !errors.As(err, new(*claudetest.ReplayError)) {
		t.Errorf("a request too many: %v", err)
	}
	play = replayer(t, recording)
	client, err = claude.Connect(t.Context(), quiet(&claude.Options{Transport: play, IncludePartialMessages: true}))
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(client.CloseInput(), client.Wait())
	client.Close()
	if !errors.As(err, new(*claudetest.ReplayError)) || !strings.Contains(err.Error(), "did not send") {
		t.Errorf("a prompt too few: %v", err)
	}
}

func TestReplayBadRecordings(t *testing.T) {
	for name, text := range map[string]string{
		"empty":    "",
		"no start": `{"dir":"out","line":{}}`,
		"format":   `{"dir":"proc","ev":"start","format":99}`,
		"no JSON":  `{"dir":"proc","ev":"start","format":1}` + "\nnope",
	} {
		if _, err := claudetest.NewReplayer(strings.NewReader(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := claudetest.NewDirReplayer(t.TempDir()); err == nil || strings.Contains(err.Error(), "nil") {
		t.Error("empty directory: no error")
	}
}
