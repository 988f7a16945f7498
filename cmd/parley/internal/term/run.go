package term

import (
	"context"
	"errors"
	"os"
	"syscall"
)

// ErrFailed makes Run return ExitFailed without a message: the output has the details.
var ErrFailed = errors.New("failed")

// Run calls f with the console and a context that a signal ends, and returns the exit code. It
// writes the error of f, unless a signal or the reader of the output caused it, and returns only
// usage errors.
func Run(ctx context.Context, noColor bool, f func(ctx context.Context, con *Console) error) (code int, err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	con := NewConsole(WantColor(noColor, os.Getenv))
	sigs := WatchSignals(ctx, end, con.Note)
	defer sigs.Stop()
	err = f(ctx, con)
	if err == nil && con.Out.Err != nil {
		err = OutputFailed(con.Out.Err)
	}
	_, badUsage := errors.AsType[*UsageError](err)
	output, unwritten := errors.AsType[*OutputError](err)
	switch {
	case err == nil:
		return ExitOK, nil
	case badUsage:
		return 0, err
	case ctx.Err() != nil:
		if sig, ok := errors.AsType[*SignalError](context.Cause(ctx)); ok {
			return sig.Code(), nil
		}
	case unwritten && errors.Is(output, syscall.EPIPE):
		return ExitSignal + int(syscall.SIGPIPE), nil
	case !unwritten && !errors.Is(err, ErrFailed):
		con.Complain(err.Error())
	}
	return ExitFailed, nil
}
