// Package s3 is a session store in a bucket of an S3 server.
//
//	store, err := s3.Open(ctx, s3.Config{Bucket: "agents", Prefix: "sessions"})
//	result, err := claude.Run(ctx, prompt, &claude.Options{SessionStore: store})
//
// The AWS SDK signs, sends and retries requests and finds the credentials and the region; see
// [Config]. Every call ends with its context and has no other time limit.
//
// Each append writes one object with a numbered name,
// <prefix>/<project>/<session>/main/<number>, or sub/<subpath>/<number> for a subagent, and
// only if the name is free (If-None-Match): writers on several machines get consecutive numbers
// and never overwrite an object. [Open] returns an error for a server without this feature. A
// claim is an empty object in the sequence; it tells an earlier writer that it was replaced.
//
// Limits: duplicates of an entry are stored, and Load omits them. ListSessions lists all
// objects of the project, and its times are those of the server, often in whole seconds. There
// are no summaries. Between a claim and the next append to a subagent's transcript the old
// writer may still append one batch. Deleting a session also deletes its claims.
package s3

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
)

// Store is a session store in a bucket of S3 or a compatible service. It is safe for concurrent
// use.
type Store struct {
	b *bucket

	mu    sync.Mutex
	tails map[claude.SessionKey]*tail
}

// Open checks that the bucket can be written to, and that the server supports conditional
// writes.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	b, err := newBucket(ctx, cfg)
	if err != nil {
		return nil, err
	}
	name := path.Join(cfg.Prefix, "conditional-writes")
	if _, err := b.create(ctx, name, []byte("checked\n")); err == nil {
		if _, err = b.create(ctx, name, []byte("ignored\n")); err == nil {
			return nil, errors.New("claudestore/s3: the server does not support If-None-Match: appends could be lost")
		}
		if !errors.Is(err, errTaken) {
			return nil, err
		}
	} else if !errors.Is(err, errTaken) {
		return nil, err
	}
	return &Store{b: b, tails: map[claude.SessionKey]*tail{}}, nil
}

func (s *Store) project(project string) string {
	return path.Join(s.b.cfg.Prefix, project) + "/"
}

func (s *Store) session(key claude.SessionKey) string {
	return s.project(key.ProjectKey) + key.SessionID + "/"
}

// parts returns the name prefix of a transcript's objects.
func (s *Store) parts(key claude.SessionKey) string {
	if key.Subpath == "" {
		return s.session(key) + "main/"
	}
	return s.session(key) + "sub/" + key.Subpath + "/"
}

func (s *Store) part(key claude.SessionKey, n uint64) string {
	return fmt.Sprintf("%s%012d", s.parts(key), n)
}

// partNumber returns the number in an object's name, after the prefix of its transcript.
func partNumber(rest string) (uint64, bool) {
	n, err := strconv.ParseUint(rest, 10, 64)
	return n, err == nil && len(rest) == 12
}

// listParts returns the objects of a transcript, excluding those of longer subpaths.
func (s *Store) listParts(ctx context.Context, key claude.SessionKey) ([]object, error) {
	prefix := s.parts(key)
	all, err := s.b.list(ctx, prefix)
	return slices.DeleteFunc(all, func(o object) bool {
		_, ok := partNumber(strings.TrimPrefix(o.Key, prefix))
		return !ok
	}), err
}

// Load returns all entries of a transcript in their order, or nil if the store has no such
// transcript.
func (s *Store) Load(ctx context.Context, key claude.SessionKey) ([]json.RawMessage, error) {
	if err := claudestore.Check(key); err != nil {
		return nil, err
	}
	parts, err := s.listParts(ctx, key)
	if err != nil {
		return nil, err
	}
	bodies := make([][]byte, len(parts))
	err = each(len(parts), func(i int) (err error) {
		if parts[i].Size > 0 { // else a claim
			bodies[i], err = s.b.read(ctx, parts[i].Key)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var entries []json.RawMessage
	seen := map[string]bool{}
	for line := range bytes.Lines(bytes.Join(bodies, nil)) {
		line = bytes.TrimSpace(line)
		if id := claudestore.UUID(line); id == "" || !seen[id] {
			seen[id] = true
			entries = append(entries, line)
		}
	}
	return entries, nil
}

// atOnce is the number of concurrent requests of one call.
const atOnce = 8

// each calls f for 0 to n-1, atOnce at a time, and returns the first error.
func each(n int, f func(i int) error) error {
	var wg sync.WaitGroup
	errs := make([]error, n)
	slots := make(chan struct{}, atOnce)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			errs[i] = f(i)
			<-slots
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// FindSession returns the projects that have a main transcript of the session. It lists the
// whole store, which can be slow.
func (s *Store) FindSession(ctx context.Context, sessionID string) (projects []string, err error) {
	prefix := ""
	if s.b.cfg.Prefix != "" {
		prefix = s.project("")
	}
	all, err := s.b.list(ctx, prefix)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		project, rest, _ := strings.Cut(strings.TrimPrefix(o.Key, prefix), "/")
		number, ok := strings.CutPrefix(rest, sessionID+"/main/")
		if _, is := partNumber(number); ok && is && o.Size > 0 && !slices.Contains(projects, project) {
			projects = append(projects, project)
		}
	}
	return projects, nil
}

// ListSessions returns the sessions of a project that have a main transcript. It lists all
// objects of the project.
func (s *Store) ListSessions(ctx context.Context, projectKey string) ([]claude.StoredSession, error) {
	prefix := s.project(projectKey)
	all, err := s.b.list(ctx, prefix)
	if err != nil {
		return nil, err
	}
	var list []claude.StoredSession
	for _, o := range all {
		id, rest, _ := strings.Cut(strings.TrimPrefix(o.Key, prefix), "/")
		number, ok := strings.CutPrefix(rest, "main/")
		if _, is := partNumber(number); !ok || !is || o.Size == 0 {
			continue
		}
		last := len(list) - 1
		switch { // names are sorted
		case last < 0 || list[last].SessionID != id:
			list = append(list, claude.StoredSession{SessionID: id, ModTime: o.LastModified})
		case list[last].ModTime.Before(o.LastModified):
			list[last].ModTime = o.LastModified
		}
	}
	return list, nil
}

// ListSubkeys returns the subpaths of a session's subagents, sorted. They do not include the
// main transcript.
func (s *Store) ListSubkeys(ctx context.Context, key claude.SessionKey) ([]string, error) {
	prefix := s.session(key) + "sub/"
	all, err := s.b.list(ctx, prefix)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, o := range all {
		sub, number := path.Split(strings.TrimPrefix(o.Key, prefix))
		if _, ok := partNumber(number); ok && sub != "" {
			list = append(list, strings.TrimSuffix(sub, "/"))
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// Delete removes a transcript. Deleting the main transcript of a session removes those of its
// subagents as well.
func (s *Store) Delete(ctx context.Context, key claude.SessionKey) error {
	if err := claudestore.Check(key); err != nil {
		return err
	}
	var gone []object
	var err error
	if key.Subpath == "" {
		gone, err = s.b.list(ctx, s.session(key))
	} else {
		gone, err = s.listParts(ctx, key)
	}
	if err != nil {
		return err
	}
	return each(len(gone), func(i int) error { return s.b.remove(ctx, gone[i].Key) })
}
