package server

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Every option with a default gets it if it is zero, and keeps another value. A clock that a test sets is kept.
func TestOptions_defaults(t *testing.T) {
	o, err := Options{Directories: []string{t.TempDir()}}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	set := Options{Directories: o.Directories, MaxAgents: 1, MaxSessions: 2, MaxConnections: 3, MaxBody: 4, IdleTimeout: 5, UnloadAfter: 6, StartTimeout: 7, CallTimeout: 8, DrainTimeout: 9, DeltaInterval: 10,
		JoinInterval: 11, ViewerInterval: 12, HeaderTimeout: 13, Heartbeat: 14, WriteTimeout: 15, Version: "v"}
	set.TurnReserve.USD, set.TurnReserve.Tokens = 16, 17
	kept, err := set.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range map[string][4]any{
		"MaxAgents": {o.MaxAgents, DefaultMaxAgents, kept.MaxAgents, 1}, "MaxSessions": {o.MaxSessions, DefaultMaxSessions, kept.MaxSessions, 2},
		"MaxConnections": {o.MaxConnections, DefaultMaxConnections, kept.MaxConnections, 3}, "MaxBody": {o.MaxBody, int64(DefaultMaxBody), kept.MaxBody, int64(4)},
		"IdleTimeout": {o.IdleTimeout, DefaultIdleTimeout, kept.IdleTimeout, time.Duration(5)}, "UnloadAfter": {o.UnloadAfter, DefaultUnloadAfter, kept.UnloadAfter, time.Duration(6)},
		"StartTimeout": {o.StartTimeout, DefaultStartTimeout, kept.StartTimeout, time.Duration(7)}, "CallTimeout": {o.CallTimeout, DefaultCallTimeout, kept.CallTimeout, time.Duration(8)},
		"DrainTimeout": {o.DrainTimeout, DefaultDrainTimeout, kept.DrainTimeout, time.Duration(9)}, "DeltaInterval": {o.DeltaInterval, DefaultDeltaInterval, kept.DeltaInterval, time.Duration(10)},
		"JoinInterval": {o.JoinInterval, DefaultJoinInterval, kept.JoinInterval, time.Duration(11)}, "ViewerInterval": {o.ViewerInterval, DefaultViewerInterval, kept.ViewerInterval, time.Duration(12)},
		"HeaderTimeout": {o.HeaderTimeout, DefaultHeaderTimeout, kept.HeaderTimeout, time.Duration(13)}, "Heartbeat": {o.Heartbeat, DefaultHeartbeat, kept.Heartbeat, time.Duration(14)},
		"WriteTimeout": {o.WriteTimeout, DefaultWriteTimeout, kept.WriteTimeout, time.Duration(15)}, "TurnReserve.USD": {o.TurnReserve.USD, DefaultTurnReserveUSD, kept.TurnReserve.USD, 16.0},
		"TurnReserve.Tokens": {o.TurnReserve.Tokens, int64(DefaultTurnReserveTokens), kept.TurnReserve.Tokens, int64(17)}, "Version": {o.Version, "dev", kept.Version, "v"},
	} {
		if values[0] != values[1] || values[2] != values[3] {
			t.Errorf("%s is %v by default and %v where it is set, want %v and %v", name, values[0], values[2], values[1], values[3])
		}
	}
	if o.now == nil || o.after == nil || o.Logger == nil {
		t.Error("the defaults lack a clock or a logger")
	}
}

// TestOptions_directories checks that the directories are absolute and without links, and that a missing one is an error.
func TestOptions_directories(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	t.Chdir(dir)
	o, err := (Options{Directories: []string{"b", filepath.Join(dir, "link")}}).withDefaults()
	if want := []string{filepath.Join(dir, "b"), filepath.Join(dir, "a")}; err != nil || !slices.Equal(o.Directories, want) {
		t.Errorf("the directories are %q, %v, want %q", o.Directories, err, want)
	}
	if o, err := (Options{}).withDefaults(); err != nil || !slices.Equal(o.Directories, []string{dir}) {
		t.Errorf("without directories they are %q, %v, want %q", o.Directories, err, dir)
	}
	if o, err := (Options{Directories: []string{"a", "none"}}).withDefaults(); err == nil {
		t.Errorf("a missing directory: %q", o.Directories)
	}
	for given, want := range map[string]string{"": "default", "plan": "plan"} {
		if got := (&Options{DefaultMode: given}).defaultMode(); got != want {
			t.Errorf("the default mode with %q is %q, want %q", given, got, want)
		}
	}
}
