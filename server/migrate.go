package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/internal/sealed"
	"github.com/seed7221b0f9/parley/server/blob"
	"github.com/seed7221b0f9/parley/server/cluster"
)

// CopiedState is the result of [CopyState]: how many uploads, sessions with secret parameters, tokens, and webhooks and subscriptions of
// browsers the source has.
type CopiedState struct {
	Uploads, Secrets, Tokens, Webhooks int
	Written                            int // entries that the target did not have
}

// entries are data by names.
type entries interface {
	blob.Lister
	// Read returns the data of a name. Without any, the error wraps [fs.ErrNotExist].
	Read(ctx context.Context, name string) ([]byte, error)
	// Write sets the data of a name that does not exist.
	Write(ctx context.Context, name string, data []byte) error
}

// CopyState copies the state outside of the logs between the directory of a single server ([Options].Dir) and a cluster: uploads,
// parameters of sessions that may contain passwords, tokens except printed ones, and webhooks and subscriptions of browsers with their
// positions. The key of push messages is copied if there are subscriptions, which are bound to it. The target may already contain a part of it; a name
// with different content is an error. Everything is read again after it was written. No server may run.
func CopyState(ctx context.Context, dir string, c *cluster.Cluster, toCluster bool) (done CopiedState, err error) {
	uploads, err := c.Blobs(ctx, uploadsBucket)
	if err != nil {
		return done, fmt.Errorf("server: %w", err)
	}
	secrets, err := c.Blobs(ctx, secretsBucket)
	if err != nil {
		return done, fmt.Errorf("server: %w", err)
	}
	tokens, err := c.Bucket(ctx, tokensBucket, 0)
	if err != nil {
		return done, fmt.Errorf("server: %w", err)
	}
	hooks, err := c.Bucket(ctx, hooksBucket, 0)
	if err != nil {
		return done, fmt.Errorf("server: %w", err)
	}
	file := hookFile(filepath.Join(dir, webhooksName))
	keys := 0
	for _, one := range []struct {
		here, there entries
		count       *int
	}{
		{blob.Dir(filepath.Join(dir, uploadsDir)), uploads.(entries), &done.Uploads},
		{sealedDir{blob.Dir(filepath.Join(dir, secretDir))}, secrets.(entries), &done.Secrets},
		{tokenFile(filepath.Join(dir, tokensName)), tokenBucket{tokens}, &done.Tokens},
		{pushKeyFile{sealedDir{blob.Dir(dir)}, file}, pushKeyBucket{hookBucket{hooks}}, &keys}, // before the subscriptions
		{file, hookBucket{hooks}, &done.Webhooks},
	} {
		from, to := one.here, one.there
		if !toCluster {
			from, to = to, from
		}
		if err := copyEntries(ctx, from, to, one.count, &done.Written); err != nil {
			return done, err
		}
	}
	return done, nil
}

// copyEntries copies all data.
func copyEntries(ctx context.Context, from, to entries, count, written *int) error {
	names, err := from.Names(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := from.Read(ctx, name)
		if err != nil {
			return err
		}
		*count++
		had, err := to.Read(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			*written++
			if err = to.Write(ctx, name, data); err == nil {
				had, err = to.Read(ctx, name)
			}
		}
		if err != nil {
			return err
		}
		if !bytes.Equal(had, data) {
			return fmt.Errorf("server: the target has other data under the name %s", name)
		}
	}
	return nil
}

// sealedDir holds the secrets of a single server.
type sealedDir struct{ blob.Dir }

// Read returns the secrets of a session.
func (d sealedDir) Read(ctx context.Context, name string) ([]byte, error) {
	data, err := d.Dir.Read(ctx, name)
	if err != nil {
		return nil, err
	}
	return sealed.Open(data)
}

// Write sets the secrets of a session.
func (d sealedDir) Write(ctx context.Context, name string, data []byte) error {
	return d.Dir.Write(ctx, name, sealed.Seal(data))
}

// lastingToken returns a token as JSON. It returns false for a printed token or one of a running server, because these end
// with the server.
func lastingToken(tk token) ([]byte, bool, error) {
	if tk.Port != "" || tk.Node != "" {
		return nil, false, nil
	}
	data, err := json.Marshal(tk)
	return data, true, err
}

// tokenFile is the set of tokens of a single server, by id.
type tokenFile string

func (f tokenFile) all() (all []token, err error) {
	err = readList(string(f), &all)
	return all, err
}

// readList reads a list of a single server. A file that does not exist is an empty list.
func readList(path string, list any) error {
	data, err := regularfile.Read(path, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		data, err = sealed.Open(data)
	}
	if err == nil {
		err = json.Unmarshal(data, list)
	}
	if err != nil {
		return fmt.Errorf("server: %s: %w", path, err)
	}
	return nil
}

// writeList writes a list of a single server.
func writeList(path string, list any) error {
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return saveState(path, text)
}

// Names returns the ids of the tokens.
func (f tokenFile) Names(context.Context) (ids []string, err error) {
	all, err := f.all()
	for _, tk := range all {
		if _, lasts, _ := lastingToken(tk); lasts {
			ids = append(ids, tk.ID)
		}
	}
	return ids, err
}

// Read returns a token.
func (f tokenFile) Read(_ context.Context, id string) ([]byte, error) {
	all, err := f.all()
	if err != nil {
		return nil, err
	}
	for _, tk := range all {
		if tk.ID == id {
			return json.Marshal(tk)
		}
	}
	return nil, fs.ErrNotExist
}

// Write adds a token.
func (f tokenFile) Write(_ context.Context, _ string, data []byte) error {
	all, err := f.all()
	if err != nil {
		return err
	}
	var tk token
	if err := json.Unmarshal(data, &tk); err != nil {
		return fmt.Errorf("server: a token of the cluster: %w", err)
	}
	return writeList(string(f), append(all, tk))
}

// tokenBucket is the tokens of a cluster, by id.
type tokenBucket struct{ *cluster.Bucket }

// Names returns the ids of the tokens.
func (b tokenBucket) Names(ctx context.Context) (ids []string, err error) {
	all, err := b.All(ctx)
	for _, e := range all {
		var tk token
		if err := json.Unmarshal(e.Value, &tk); err != nil {
			return nil, fmt.Errorf("server: token %s of the cluster: %w", e.Key, err)
		}
		if _, lasts, _ := lastingToken(tk); lasts {
			ids = append(ids, tk.ID)
		}
	}
	return ids, err
}

// Read returns a token.
func (b tokenBucket) Read(ctx context.Context, id string) ([]byte, error) {
	e, err := b.Get(ctx, id)
	if errors.Is(err, cluster.ErrMissing) || err == nil && e.Value == nil {
		return nil, fs.ErrNotExist
	}
	return e.Value, err
}

// Write adds a token.
func (b tokenBucket) Write(ctx context.Context, id string, data []byte) error {
	return b.Create(ctx, id, data)
}
