package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	"github.com/seed7221b0f9/parley/internal/redact"
)

// logger is where this package logs to. Secrets, e-mail addresses and home
// directories are taken out on the way: what is logged may come from the CLI,
// from its environment or from a callback.
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

// debug logs from the tracer's goroutine, since a handler of logs is the caller's
// code. It is computed only if the level is enabled.
func (t *tracer) debug(l *slog.Logger, msg string, args ...any) {
	if l.Enabled(context.Background(), slog.LevelDebug) {
		t.call(func() { l.Debug(msg, args...) })
	}
}

// redactingHandler takes secrets out of what it passes on.
type redactingHandler struct {
	slog.Handler
	redactor func() *redact.Redactor
}

// Handle redacts a record.
func (h redactingHandler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

// WithAttrs redacts attributes.
func (h redactingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return redactingHandler{h.Handler.WithAttrs(clean), h.redactor}
}

// WithGroup keeps redacting.
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
