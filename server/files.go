package server

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/blob"
	"github.com/seed7221b0f9/parley/server/place"
	"github.com/seed7221b0f9/parley/server/session"
)

// maxUpload is the maximum size of an image in bytes.
const maxUpload = 20 << 20

// placeOf returns the machine of a session with its directory.
func (s *Server) placeOf(ctx context.Context, id string) (place.Place, string, error) {
	dir, machine, err := s.sessions.Dir(ctx, id)
	if err != nil {
		return nil, "", err
	}
	at, err := s.sessions.Place(machine)
	return at, dir, err
}

// filesSearch finds files with paths that contain the letters of the query.
func filesSearch(s *Server, ctx context.Context, c *caller, p api.FilesSearchParams) (result api.FilesSearchResult, err error) {
	var at place.Place
	var dir string
	if p.SessionID != "" || p.CWD == "" && p.Machine == "" {
		at, dir, err = s.placeOf(ctx, p.SessionID)
	} else {
		at, dir, err = s.placeAt(c, p.Machine, p.CWD)
	}
	if err != nil {
		return api.FilesSearchResult{Files: []api.FileInfo{}}, err
	}
	result.Files, err = at.Search(ctx, dir, p.Query, int(p.Limit))
	return result, err
}

// filesRead reads lines of a file in the session's directory.
func filesRead(s *Server, ctx context.Context, _ *caller, p api.FilesReadParams) (api.FilesReadResult, error) {
	at, dir, err := s.placeOf(ctx, p.SessionID)
	if err != nil {
		return api.FilesReadResult{}, err
	}
	return at.Read(ctx, dir, p.Path, p.Range)
}

// imageTypes are the image types that agents accept.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// uploadDir returns the directory of the uploads of a session.
func (s *Server) uploadDir(session string) string {
	return filepath.Join(s.opts.Dir, uploadsDir, session)
}

// imageUpload stores an image for a later query, under a name that the server chooses.
func imageUpload(s *Server, ctx context.Context, _ *caller, p api.ImageUploadParams) (api.ImageUploadResult, error) {
	if err := s.sessions.Owned(ctx, p.SessionID); err != nil {
		return api.ImageUploadResult{}, err
	}
	if !slices.Contains(imageTypes, p.MediaType) {
		return api.ImageUploadResult{}, session.Invalid("media type %q is not one of %s", p.MediaType, strings.Join(imageTypes, ", "))
	}
	data, err := base64.StdEncoding.DecodeString(p.Data)
	if err != nil || len(data) == 0 {
		return api.ImageUploadResult{}, session.Invalid("the data is not base64")
	}
	if len(data) > maxUpload {
		return api.ImageUploadResult{}, session.LimitReached("an image has at most %d bytes", maxUpload)
	}
	id := uploadSum(data) + "." + path.Base(p.MediaType)
	if err := s.uploaded.Write(ctx, path.Join(p.SessionID, id), data); err != nil {
		return api.ImageUploadResult{}, err
	}
	return api.ImageUploadResult{ID: id, Size: int64(len(data))}, nil
}

// uploadSum returns the part of an upload's id that depends on its content.
func uploadSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// damagedUpload reports whether an upload differs from the uploaded data. Ids of older servers do not depend on
// the data and cannot be checked.
func damagedUpload(id string, data []byte) bool {
	sum, _, _ := strings.Cut(id, ".")
	return sum != uploadSum(data) && len(sum) == len(uploadSum(nil)) || len(data) == 0
}

// removeUploads deletes the uploads of a session.
func (s *Server) removeUploads(ctx context.Context, session string) error {
	return s.uploaded.Remove(ctx, session)
}

// The names of the buckets of uploads and secrets.
const (
	uploadsBucket = "UPLOADS"
	secretsBucket = "SECRETS"
)

// openBlobs opens the stores of uploads and secrets. A single server has its secrets in package session.
func (s *Server) openBlobs(ctx context.Context) (err error) {
	s.uploaded = blob.Dir(filepath.Join(s.opts.Dir, uploadsDir))
	if c := s.opts.Cluster; c != nil {
		if s.uploaded, err = c.Blobs(ctx, uploadsBucket); err == nil {
			s.secrets, err = c.Blobs(ctx, secretsBucket)
		}
	}
	return err
}

// uploads replaces blocks that refer to uploaded images by the images:
// {"type":"image","source":{"type":"upload","id":…}}.
func (s *Server) uploads(ctx context.Context, owner string, blocks []event.JSON) ([]event.JSON, error) {
	out := slices.Clone(blocks)
	size := 0 // one image may be referenced many times
	for i, b := range blocks {
		var block struct {
			Type   string
			Source struct{ Type, ID string }
		}
		if json.Unmarshal([]byte(b), &block) != nil || block.Type != "image" || block.Source.Type != "upload" {
			continue
		}
		id := block.Source.ID
		if strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyz.") != "" || strings.Contains(id, "..") || !strings.HasPrefix(owner, session.Prefix) || strings.ContainsAny(owner, `/\.`) {
			return nil, session.Invalid("upload %q not found", id)
		}
		data, err := s.uploaded.Read(ctx, path.Join(owner, id))
		if err != nil || len(data) > maxUpload {
			return nil, session.Invalid("upload %q not found", id)
		}
		if damagedUpload(id, data) {
			return nil, session.Conflict("the upload %q is damaged; send the image again", id)
		}
		if size += base64.StdEncoding.EncodedLen(len(data)); size > session.MaxMessage {
			return nil, session.LimitReached("the images of one query have at most %d bytes in base64", session.MaxMessage)
		}
		out[i] = event.Encoded(map[string]any{"type": "image", "source": map[string]string{
			"type": "base64", "media_type": "image/" + strings.TrimPrefix(filepath.Ext(id), "."), "data": base64.StdEncoding.EncodeToString(data),
		}})
	}
	return out, nil
}
