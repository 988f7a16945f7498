package host

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/seed7221b0f9/parley/internal/supervise"
)

// Enter makes this process a host, and does not return, if [Start] has started it as one. A program calls it first in its main
// function.
func Enter() {
	canEnter = true
	if len(os.Args) != 3 || os.Args[0] != Name {
		return
	}
	os.Exit(enter(os.Args[1], os.Args[2]))
}

// canEnter reports whether this program has called Enter.
var canEnter bool

func enter(dataDir, options string) int {
	var o Options
	if err := json.Unmarshal([]byte(options), &o); err != nil {
		fmt.Fprintln(os.Stderr, "parley host:", err)
		return 2
	}
	if o.Supervisor == "" {
		o.Supervisor = supervise.Self()
	}
	// The terminal of the first owner may be closed.
	signal.Ignore(syscall.SIGHUP)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	log := slog.New(slog.NewTextHandler(&boundedLog{path: LogFile(dataDir)}, nil))
	debug.FreeOSMemory()
	supervise.Shrink()
	if err := Run(ctx, dataDir, o, log); err != nil {
		fmt.Fprintln(os.Stderr, "parley host:", err)
		return 1
	}
	return 0
}

// maxLog is the size at which the log is renamed and a new one begins.
const maxLog = 1 << 20

// boundedLog is the log file of a host.
type boundedLog struct{ path string }

// Write appends a line. It opens the file each time, because lines are few and the file may be removed.
func (l *boundedLog) Write(line []byte) (int, error) {
	if info, err := os.Stat(l.path); err == nil && info.Size() > maxLog {
		_ = os.Rename(l.path, l.path+".old") // on failure the log continues in the same file
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.Write(line)
}
