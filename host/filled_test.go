package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/test/filled"
	"github.com/seed7221b0f9/parley/spawn"
)

// TestFilled encodes and decodes the messages between a host and its owner, and the host's files, with a distinct value in every field.
func TestFilled(t *testing.T) {
	filled.JSON[answer](t)
	filled.JSON[notice](t)
	filled.JSON[Info](t)
	filled.JSON[Agent](t)
	filled.JSON[AgentOptions](t)
	filled.JSON[InputInfo](t)
	filled.JSON[Exit](t)
	filled.JSON[Registration](t)
	filled.JSON[spawn.Command](t)
	filled.JSON[spawn.ExitStatus](t)
	ask := filled.Of[request](t)
	frame, err := jsonFrame(frameRequest, ask)
	if err != nil {
		t.Fatal(err)
	}
	var got request
	decode(t, frame, &got)
	got.Launch.Key = ask.Launch.Key // it is not sent
	filled.Equal(t, "a request", got, ask)
}

// decode decodes a frame with JSON.
func decode(t *testing.T, frame []byte, v any) {
	t.Helper()
	size, whole := frameSize(frame)
	if !whole || size != len(frame) {
		t.Fatalf("the frame has %d bytes, its head names %d", len(frame), size)
	}
	if err := json.Unmarshal(frame[headSize:], v); err != nil {
		t.Fatal(err)
	}
}

// TestFilled_parts encodes and decodes records, whole and as parts, with a distinct value in every field.
func TestFilled_parts(t *testing.T) {
	for _, more := range []bool{false, true} {
		want := part{Record: filled.Of[Record](t), more: more}
		want.Kind = Input
		frame := appendPart(nil, 7, want)
		agent, got, err := parsePart(frame[headSize:])
		if err != nil || agent != 7 {
			t.Fatalf("the agent is %d, %v, want 7", agent, err)
		}
		if !got.Time.Equal(want.Time) || got.size != len(frame) {
			t.Errorf("the time is %v and the size %d, want %v and %d", got.Time, got.size, want.Time, len(frame))
		}
		want.Time, want.size = got.Time, len(frame)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("a part is %+v, want %+v", got, want)
		}
	}
}

// TestFilled_failures checks that each error with a name arrives as the same error, and that others
// keep their text.
func TestFilled_failures(t *testing.T) {
	for code, want := range codes {
		if got := failureOf(fmt.Errorf("x: %w", want)).error(); !errors.Is(got, want) {
			t.Errorf("%s: %v, want %v", code, got, want)
		}
	}
	if got := failureOf(errors.New("a reason")).error(); !errors.Is(got, ErrRefused) || got.Error() != ErrRefused.Error()+": a reason" {
		t.Errorf("another error is %v", got)
	}
	if got := failureOf(nil).error(); got != nil {
		t.Errorf("no error is %v", got)
	}
	start := proc.StartError{Path: "path", Dir: "dir", Reason: "reason"}
	for _, cause := range []error{nil, errors.New("a cause"), syscall.ENOENT} {
		start.Err = cause
		got, ok := errors.AsType[*proc.StartError](failureOf(fmt.Errorf("x: %w", &start)).error())
		if !ok || got.Error() != start.Error() || got.Path != start.Path || got.Dir != start.Dir || got.Reason != start.Reason {
			t.Errorf("with the cause %v: %+v, want %+v", cause, got, start)
		}
		if errno, ok := cause.(syscall.Errno); ok && !errors.Is(got, errno) {
			t.Errorf("%v is not %v", got, errno)
		}
	}
}
