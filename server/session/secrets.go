package session

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/internal/sealed"
	"github.com/seed7221b0f9/parley/server/api"
)

// secrets are the parameters of a session that may contain passwords. They are stored in a file
// that only its owner can read, because the log has copies and backups.
type secrets struct {
	MCPServers event.JSON `json:"mcp_servers,omitempty"`
	Agents     event.JSON `json:"agents,omitempty"` // may contain MCP servers too
}

// maxSecrets is the size limit of a file in bytes.
const maxSecrets = 64 << 20

func (s *Sessions) secretPath(id string) string { return filepath.Join(s.opts.SecretDir, id) }

// hideSecrets moves the secrets of a session to its file.
func (s *Sessions) hideSecrets(id string, o *Opened) (err error) {
	found := secrets{o.Params.MCPServers, o.Params.Agents}
	if found == (secrets{}) {
		return nil
	}
	data, err := json.Marshal(found)
	if err != nil {
		return err
	}
	if s.opts.Secrets != nil {
		if err = s.shareSecrets(id, data); err == nil {
			o.Secret, o.Params.MCPServers, o.Params.Agents = true, "", ""
		}
		return err
	}
	f, err := os.OpenFile(s.secretPath(id), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(f.Name()) // it may be incomplete
		}
	}()
	if _, err := f.Write(sealed.Seal(data)); err != nil {
		return err
	}
	o.Secret, o.Params.MCPServers, o.Params.Agents = true, "", ""
	return f.Sync()
}

// withSecrets returns the parameters of a session with those of its file. Older logs contain them
// directly.
func (s *Sessions) withSecrets(id string, o *Opened) (api.ConnectParams, error) {
	p := o.Params
	if !o.Secret {
		return p, nil
	}
	data, err := s.readSecrets(id)
	if err != nil {
		return p, err
	}
	var found secrets
	if err := json.Unmarshal(data, &found); err != nil {
		return p, err
	}
	p.MCPServers, p.Agents = found.MCPServers, found.Agents
	return p, nil
}

// readSecrets returns the secrets of a session, in a cluster those that all servers share. A file of this server from before it joined the
// cluster becomes shared.
func (s *Sessions) readSecrets(id string) ([]byte, error) {
	if s.opts.Secrets != nil {
		ctx, cancel := context.WithTimeout(s.ctx, s.opts.CallTimeout)
		defer cancel()
		data, err := s.opts.Secrets.Read(ctx, id)
		if !errors.Is(err, fs.ErrNotExist) {
			return data, err
		}
	}
	data, err := regularfile.Read(s.secretPath(id), maxSecrets)
	if err != nil {
		return nil, err
	}
	if data, err = sealed.Open(data); err != nil || s.opts.Secrets == nil {
		return data, err
	}
	if err := s.shareSecrets(id, data); err != nil {
		return nil, err
	}
	return data, os.Remove(s.secretPath(id))
}

// shareSecrets stores the secrets of a session for all servers of the cluster.
func (s *Sessions) shareSecrets(id string, data []byte) error {
	ctx, cancel := context.WithTimeout(s.ctx, s.opts.CallTimeout)
	defer cancel()
	return s.opts.Secrets.Write(ctx, id, data)
}

// removeSecrets deletes the secrets of a session.
func (s *Sessions) removeSecrets(ctx context.Context, id string) error {
	if s.opts.Secrets != nil {
		if err := s.opts.Secrets.Remove(ctx, id); err != nil {
			return err
		}
	}
	if err := os.Remove(s.secretPath(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// params returns the parameters of the session. If its secrets are missing, the session works
// without them, with a notice.
func (a *actor) params() api.ConnectParams {
	p, err := a.srv.withSecrets(a.id, &a.core.Opened)
	if err != nil {
		a.logger.Warn("the file with the session's MCP servers and subagents cannot be read", "err", err)
		a.draft(draft{event: &event.Notice{Header: a.core.header(""), Severity: event.NoticeWarning, Code: "mcp_missing",
			Text: "The MCP servers and subagents that this session was made with cannot be read: the agent works without them."}})
	}
	return p
}
