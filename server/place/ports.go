package place

import (
	"context"
	"encoding/json"
	"errors"
	"net"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/ports"
)

// Ports lists the ports of a session.
func (l *Local) Ports(_ context.Context, session string) ([]ports.Port, error) {
	mark := l.markOf(session)
	if mark == "" {
		return nil, nil
	}
	found, err := ports.Find(mark)
	if errors.Is(err, ports.ErrUnsupported) {
		return nil, fail(api.Unsupported, "the system of this machine does not report who listens on a port")
	}
	return found, err
}

// DialPort connects to a port of a session.
func (l *Local) DialPort(ctx context.Context, session string, port int) (net.Conn, error) {
	return ports.Dial(ctx, l.markOf(session), port)
}

func (l *Local) markOf(session string) string {
	if l.Mark == nil || session == "" {
		return ""
	}
	return l.Mark(session)
}

// dialMethod is the method of [Dial].
const dialMethod = "port"

// Dial makes a connection for the Dial of a [Remote].
func Dial(ctx context.Context, p Place, method string, params json.RawMessage) (net.Conn, error) {
	if method != dialMethod {
		return nil, errors.New("unknown method " + method)
	}
	var q portsCall
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, fail(api.InvalidParams, "the parameters: %v", err)
	}
	return p.DialPort(ctx, q.Session, q.Port)
}
