package server

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// TestUploads_damaged damages the file of an upload: a prompt with it is refused, and no other content reaches the agent. Uploads of older servers
// have ids that do not depend on their content.
func TestUploads_damaged(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	picture := bytes.Repeat([]byte("picture "), 20)
	data := base64.StdEncoding.EncodeToString(picture)
	var up api.ImageUploadResult
	h.call("image.upload", api.ImageUploadParams{SessionID: id, Name: "a.png", MediaType: "image/png", Data: data}, &up)
	dir := h.server.uploadDir(id)
	old := strings.Repeat("0", 24) + ".png"
	for name, tt := range map[string]struct {
		id    string
		harm  func([]byte) []byte
		fails bool
	}{
		"intact":                 {up.ID, bytes.Clone, false},
		"a changed byte":         {up.ID, func(b []byte) []byte { b[3] ^= 1; return b }, true},
		"cut":                    {up.ID, func(b []byte) []byte { return b[:len(b)-1] }, true},
		"longer":                 {up.ID, func(b []byte) []byte { return append(b, 'x') }, true},
		"empty":                  {up.ID, func([]byte) []byte { return nil }, true},
		"gone":                   {up.ID, nil, true},
		"of an older server":     {old, bytes.Clone, false},
		"of an older one, empty": {old, func([]byte) []byte { return nil }, true},
		"a way out":              {"..", nil, true},
	} {
		path := filepath.Join(dir, tt.id)
		if tt.harm == nil {
			if err := os.RemoveAll(filepath.Join(dir, up.ID)); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, tt.harm(bytes.Clone(picture)), 0o600); err != nil {
			t.Fatal(err)
		}
		block := event.Encoded(map[string]any{"type": "image", "source": map[string]string{"type": "upload", "id": tt.id}})
		blocks, err := h.server.uploads(h.ctx(), id, []event.JSON{block})
		if (err != nil) != tt.fails {
			t.Errorf("%s: %v, want an error: %v", name, err, tt.fails)
		}
		if f := session.FailureOf(err); err != nil && f.Reason == session.InternalError {
			t.Errorf("%s: %v has no reason", name, err)
		}
		if err == nil && !strings.Contains(string(blocks[0]), `"`+data+`"`) {
			t.Errorf("%s: the block is %.80s", name, blocks[0])
		}
	}
}
