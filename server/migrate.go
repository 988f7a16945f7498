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

// CopiedState is the result of [CopyState]: how many uploads, sessions with secret parameters, and tokens the source has.
type CopiedState struct {
	Uploads, Secrets, Tokens int
	Written                  int // those that the target did not have
}

// CopyState copies the state outside of the logs between the directory of a single server ([Options].Dir) and a cluster: uploads,
// parameters of sessions that may contain passwords, and tokens except printed ones. The target may already contain a part of it; a name
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
	here := []blob.Store{blob.Dir(filepath.Join(dir, uploadsDir)), sealedDir{blob.Dir(filepath.Join(dir, secretDir))}, tokenFile(filepath.Join(dir, tokensName))}
	there := []blob.Store{uploads, secrets, tokenBucket{tokens}}
	for i, n := range []*int{&done.Uploads, &done.Secrets, &done.Tokens} {
		from, to := here[i], there[i]
		if !toCluster {
			from, to = to, from
		}
		if err := copyBlobs(ctx, from, to, n, &done.Written); err != nil {
			return done, err
		}
	}
	return done, nil
}

// copyBlobs copies all data of a store.
func copyBlobs(ctx context.Context, from, to blob.Store, count, written *int) error {
	names, err := from.(blob.Lister).Names(ctx)
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

// tokenFile is the tokens of a single server, by id.
type tokenFile string

func (f tokenFile) all() (all []token, err error) {
	data, err := regularfile.Read(string(f), maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		data, err = sealed.Open(data)
	}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("server: %s: %w", f, err)
	}
	return all, nil
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
	text, err := json.Marshal(append(all, tk))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o700); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return blob.Dir(filepath.Dir(string(f))).Write(context.Background(), filepath.Base(string(f)), sealed.Seal(text))
}

// Remove is not used.
func (f tokenFile) Remove(context.Context, string) error { return errors.ErrUnsupported }

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

// Remove is not used.
func (b tokenBucket) Remove(context.Context, string) error { return errors.ErrUnsupported }
