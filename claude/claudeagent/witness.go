package claudeagent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/transcript"
)

func historyInfo(i *transcript.Info) agent.HistoryInfo {
	return agent.HistoryInfo{
		ID: i.SessionID, Summary: i.Summary, CustomTitle: i.CustomTitle, FirstPrompt: i.FirstPrompt, Tag: i.Tag, Dir: i.CWD, GitBranch: i.GitBranch,
		FileSize: i.FileSize, Created: i.CreatedAt, Modified: i.LastModified, Archived: i.Archived != nil && *i.Archived,
	}
}

func matches(i *transcript.Info, query string) bool {
	return strings.Contains(strings.ToLower(i.Summary+"\n"+i.FirstPrompt+"\n"+i.Tag), strings.ToLower(query))
}

// Delivered searches the uuid of a prompt in the session's file: as a separate line or as
// the source of a queued command. If it is missing, the result is agent.DeliveryUnknown,
// because that is no proof.
func (p *Provider) Delivered(ctx context.Context, sessionID, uuid string) (agent.Delivery, error) {
	s, err := p.dir().Session(sessionID)
	if errors.Is(err, transcript.ErrNoSession) {
		return agent.DeliveryUnknown, nil
	}
	if err != nil {
		return agent.DeliveryUnknown, err
	}
	for e, err := range s.Entries(ctx) {
		var bad *transcript.LineError
		if errors.As(err, &bad) {
			continue // a line that was cut when the CLI died
		}
		if err != nil {
			return agent.DeliveryUnknown, err
		}
		if l := transcript.LinkOf(e); l != nil && l.UUID == uuid || queued(e) == uuid {
			return agent.Delivered, nil
		}
	}
	return agent.DeliveryUnknown, nil
}

// queued returns the uuid of the prompt in an attachment, or "".
func queued(e transcript.Entry) string {
	a, ok := e.(*transcript.AttachmentEntry)
	if !ok || a.AttachmentType() != "queued_command" {
		return ""
	}
	var c struct {
		Source string `json:"source_uuid"`
	}
	_ = a.Attachment.Decode(&c) // a value of another form has no uuid
	return c.Source
}

// Measure returns the size of the session's file. With read it counts only the lines that are JSON.
func (p *Provider) Measure(ctx context.Context, sessionID string, read bool) (int64, error) {
	s, err := p.dir().Session(sessionID)
	if err != nil {
		return 0, translate(err)
	}
	if !read {
		info, err := os.Stat(s.Path)
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	f, err := os.Open(s.Path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return jsonLines(ctx, f)
}

// jsonLines returns the number of bytes in complete lines that are JSON. It does not check lines that are too long to be held.
func jsonLines(ctx context.Context, r io.Reader) (n int64, err error) {
	var line []byte
	size := 0
	for lines := bufio.NewReaderSize(r, 1<<16); ctx.Err() == nil; {
		part, err := lines.ReadSlice('\n')
		if size += len(part); size <= transcript.DefaultMaxLine {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		}
		if size > transcript.DefaultMaxLine || json.Valid(line) {
			n += int64(size)
		}
		line, size = line[:0], 0
	}
	return n, ctx.Err()
}
