package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	"github.com/seed7221b0f9/parley/internal/redact"
)

// logger returns the logger of this package. It redacts secrets, e-mail addresses and
// home directories, because logged values may come from the CLI, its environment or a
// callback.
func (l *launch) logger() *slog.Logger {
	to := l.Logger
	if to == nil {
		to = slog.Default()
	}
	redactor := sync.OnceValue(func() *redact.Redactor {
		var env []string
		for name, value := range l.Env {
			env = append(env, name+"="+value)
		}
		return redact.New(redact.Secrets(env)...)
	})
	return slog.New(redactingHandler{to.Handler(), redactor})
}

// debug logs from the tracer's goroutine, because a log handler is the caller's code. It
// does so only if the level is enabled.
func (t *tracer) debug(l *slog.Logger, msg string, args ...any) {
	if l.Enabled(context.Background(), slog.LevelDebug) {
		t.call(func() { l.Debug(msg, args...) })
	}
}

// redactingHandler redacts secrets in records before it passes them on.
type redactingHandler struct {
	slog.Handler
	redactor func() *redact.Redactor
}

func (h redactingHandler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

func (h redactingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return redactingHandler{h.Handler.WithAttrs(clean), h.redactor}
}

func (h redactingHandler) WithGroup(name string) slog.Handler {
	return redactingHandler{h.Handler.WithGroup(name), h.redactor}
}

func (h redactingHandler) attr(a slog.Attr) slog.Attr {
	return slog.Attr{Key: a.Key, Value: h.value(a.Value.Resolve())}
}

func (h redactingHandler) value(v slog.Value) slog.Value {
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(h.text(v.String()))
	case slog.KindGroup:
		var group []slog.Attr
		for _, a := range v.Group() {
			group = append(group, h.attr(a))
		}
		return slog.GroupValue(group...)
	case slog.KindAny:
		if list, ok := v.Any().([]string); ok {
			clean := make([]string, len(list))
			for i, s := range list {
				clean[i] = h.text(s)
			}
			return slog.AnyValue(clean)
		}
		return slog.StringValue(h.text(fmt.Sprint(v.Any())))
	}
	return v // numbers and times
}

func (h redactingHandler) text(s string) string {
	if len(s) > 0 && (s[0] == '{' || s[0] == '[') && json.Valid([]byte(s)) {
		return string(h.redactor().JSON([]byte(s)))
	}
	return h.redactor().Text(s)
}
