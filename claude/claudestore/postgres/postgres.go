// Package postgres is a session store in a PostgreSQL database, 12 or newer.
//
//	pool, err := pgxpool.New(ctx, "postgres://…")
//	store, err := postgres.Open(ctx, pool, "")
//	result, err := claude.Run(ctx, prompt, &claude.Options{SessionStore: store})
//
// One table has a row for each entry, as JSON with the CLI's original text; another has a row
// for each session with its summary, time and writer. An append is one transaction that locks
// the session's row, so that writers on several machines are serialized and a replaced writer
// is always fenced off.
package postgres

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
)

// DB is a connection pool, such as *pgxpool.Pool. A single connection is enough for a store
// that only one goroutine uses.
type DB interface {
	Begin(ctx context.Context) (pgx.Tx, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Store is a session store. It is safe for concurrent use if its [DB] is.
type Store struct {
	db  DB
	sql *strings.Replacer // inserts the table names
}

//go:embed schema.sql
var schema string

// Open creates the missing tables of a store. Their names begin with prefix; "" means claude.
// The caller closes the database.
func Open(ctx context.Context, db DB, prefix string) (*Store, error) {
	prefix = cmp.Or(prefix, "claude")
	name := func(what string) string { return pgx.Identifier{prefix + "_" + what}.Sanitize() }
	s := &Store{db: db, sql: strings.NewReplacer("$sessions", name("sessions"), "$entries", name("entries"),
		"$uuids", name("entries_uuid"), "$claims", name("claims"))}
	err := s.transaction(ctx, func(tx pgx.Tx) error {
		// IF NOT EXISTS alone fails if two processes run it at once.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext($1))", "claudestore/"+prefix); err != nil {
			return err
		}
		for statement := range strings.SplitSeq(schema, ";") {
			if _, err := tx.Exec(ctx, s.sql.Replace(statement)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Store) transaction(ctx context.Context, f func(tx pgx.Tx) error) error {
	if err := pgx.BeginFunc(ctx, s.db, f); err != nil {
		return fmt.Errorf("claudestore/postgres: %w", err)
	}
	return nil
}

// Append appends entries to a transcript in one transaction. It omits entries with a uuid that
// the transcript already has.
func (s *Store) Append(ctx context.Context, key claude.SessionKey, entries []json.RawMessage) error {
	return s.append(ctx, key, entries, nil)
}

// append adds entries; with a claim, it fails unless that is the session's last claim.
func (s *Store) append(ctx context.Context, key claude.SessionKey, entries []json.RawMessage, claim *int64) error {
	if err := claudestore.Check(key); err != nil || len(entries) == 0 {
		return err
	}
	return s.transaction(ctx, func(tx pgx.Tx) error {
		prev, last, err := s.lock(ctx, tx, key)
		if err != nil {
			return err
		}
		if claim != nil && *claim != last {
			return claude.ErrFenced
		}
		added, err := s.insert(ctx, tx, key, entries)
		if err != nil || key.Subpath != "" {
			return err
		}
		return s.summarize(ctx, tx, key, prev, added)
	})
}

// lock creates the row of a session if it is missing, and locks it until the transaction ends.
func (s *Store) lock(ctx context.Context, tx pgx.Tx, key claude.SessionKey) (prev *claude.StoredSummary, claim int64, err error) {
	if _, err := tx.Exec(ctx, s.sql.Replace(`INSERT INTO $sessions (project, session) VALUES ($1, $2) ON CONFLICT DO NOTHING`),
		key.ProjectKey, key.SessionID); err != nil {
		return nil, 0, err
	}
	var data *string
	err = tx.QueryRow(ctx, s.sql.Replace(`SELECT claim, summary::text FROM $sessions WHERE project = $1 AND session = $2 FOR UPDATE`),
		key.ProjectKey, key.SessionID).Scan(&claim, &data)
	if errors.Is(err, pgx.ErrNoRows) {
		// The row was deleted between the two statements.
		return s.lock(ctx, tx, key)
	}
	if err != nil || data == nil {
		return nil, claim, err
	}
	return &claude.StoredSummary{SessionID: key.SessionID, Data: json.RawMessage(*data)}, claim, nil
}

// insert adds the entries with an unknown uuid.
func (s *Store) insert(ctx context.Context, tx pgx.Tx, key claude.SessionKey, entries []json.RawMessage) (added []json.RawMessage, err error) {
	ids, texts := make([]*string, len(entries)), make([]string, len(entries))
	for i, e := range entries {
		// A text column cannot hold NUL; no valid uuid has one.
		if id := claudestore.UUID(e); id != "" && !strings.Contains(id, "\x00") {
			ids[i] = &id
		}
		texts[i] = string(e)
	}
	rows, err := tx.Query(ctx, s.sql.Replace(`INSERT INTO $entries (project, session, subpath, uuid, entry)
		SELECT $1, $2, $3, uuid, entry::json FROM unnest($4::text[], $5::text[]) WITH ORDINALITY AS new (uuid, entry, n) ORDER BY n
		ON CONFLICT DO NOTHING RETURNING id, entry::text`), key.ProjectKey, key.SessionID, key.Subpath, ids, texts)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (json.RawMessage, error) {
		var id int64
		var text string
		err := row.Scan(&id, &text)
		return json.RawMessage(text), err
	})
}

func (s *Store) summarize(ctx context.Context, tx pgx.Tx, key claude.SessionKey, prev *claude.StoredSummary, added []json.RawMessage) error {
	sum, err := claudestore.FoldSummary(prev, key, added, time.Time{})
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, s.sql.Replace(`UPDATE $sessions SET mtime = clock_timestamp(), summary = $3::json WHERE project = $1 AND session = $2`),
		key.ProjectKey, key.SessionID, string(sum.Data))
	return err
}

// Load returns all entries of a transcript in their order, or nil if the store has no such
// transcript.
func (s *Store) Load(ctx context.Context, key claude.SessionKey) ([]json.RawMessage, error) {
	return collect(ctx, s, func(row pgx.CollectableRow) (json.RawMessage, error) {
		var text string
		err := row.Scan(&text)
		return json.RawMessage(text), err
	}, `SELECT entry::text FROM $entries WHERE project = $1 AND session = $2 AND subpath = $3 ORDER BY id`, key.ProjectKey, key.SessionID, key.Subpath)
}

// collect returns the rows of a query, or nil.
func collect[T any](ctx context.Context, s *Store, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, err := s.db.Query(ctx, s.sql.Replace(sql), args...)
	if err != nil {
		return nil, fmt.Errorf("claudestore/postgres: %w", err)
	}
	list, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("claudestore/postgres: %w", err)
	}
	if len(list) == 0 {
		return nil, nil
	}
	return list, nil
}

// ListSessions returns the sessions of a project that have a main transcript, in no particular
// order.
func (s *Store) ListSessions(ctx context.Context, projectKey string) ([]claude.StoredSession, error) {
	return collect(ctx, s, func(row pgx.CollectableRow) (e claude.StoredSession, err error) {
		err = row.Scan(&e.SessionID, &e.ModTime)
		return e, err
	}, `SELECT session, mtime FROM $sessions WHERE project = $1 AND mtime IS NOT NULL`, projectKey)
}

// FindSession returns the projects that have a main transcript of the session, or nil if there
// is no such session.
func (s *Store) FindSession(ctx context.Context, sessionID string) ([]string, error) {
	return collect(ctx, s, pgx.RowTo[string], `SELECT project FROM $sessions WHERE session = $1 AND mtime IS NOT NULL`, sessionID)
}

// ListSummaries returns the summaries of all sessions of a project that have a main transcript.
func (s *Store) ListSummaries(ctx context.Context, projectKey string) ([]claude.StoredSummary, error) {
	return collect(ctx, s, func(row pgx.CollectableRow) (e claude.StoredSummary, err error) {
		var data string
		err = row.Scan(&e.SessionID, &e.ModTime, &data)
		e.Data = json.RawMessage(data)
		return e, err
	}, `SELECT session, mtime, summary::text FROM $sessions WHERE project = $1 AND mtime IS NOT NULL`, projectKey)
}

// ListSubkeys returns the subpaths of a session's subagents, sorted. They do not include the
// main transcript.
func (s *Store) ListSubkeys(ctx context.Context, key claude.SessionKey) ([]string, error) {
	return collect(ctx, s, pgx.RowTo[string],
		`SELECT DISTINCT subpath FROM $entries WHERE project = $1 AND session = $2 AND subpath <> '' ORDER BY 1`, key.ProjectKey, key.SessionID)
}

// Delete removes a transcript. Deleting the main transcript of a session removes those of its
// subagents as well.
func (s *Store) Delete(ctx context.Context, key claude.SessionKey) error {
	return s.transaction(ctx, func(tx pgx.Tx) error {
		if key.Subpath != "" {
			_, err := tx.Exec(ctx, s.sql.Replace(`DELETE FROM $entries WHERE project = $1 AND session = $2 AND subpath = $3`),
				key.ProjectKey, key.SessionID, key.Subpath)
			return err
		}
		// Delete the session's row first: a concurrent append waits for its lock.
		for _, table := range []string{"$sessions", "$entries"} {
			if _, err := tx.Exec(ctx, s.sql.Replace(`DELETE FROM `+table+` WHERE project = $1 AND session = $2`), key.ProjectKey, key.SessionID); err != nil {
				return err
			}
		}
		return nil
	})
}

// Claim makes the caller the writer of a session. After Delete a session has no writer.
func (s *Store) Claim(ctx context.Context, key claude.SessionKey) (claude.SessionStore, error) {
	key.Subpath = ""
	if err := claudestore.Check(key); err != nil {
		return nil, err
	}
	w := &writer{Store: s, key: key}
	err := s.transaction(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, s.sql.Replace(`INSERT INTO $sessions AS s (project, session, claim) VALUES ($1, $2, nextval('$claims'))
			ON CONFLICT (project, session) DO UPDATE SET claim = excluded.claim RETURNING claim`), key.ProjectKey, key.SessionID).Scan(&w.claim)
	})
	return w, err
}

// writer is a Store with fenced appends to one session.
type writer struct {
	*Store
	key   claude.SessionKey
	claim int64
}

// Append adds entries unless another writer has claimed the session.
func (w *writer) Append(ctx context.Context, key claude.SessionKey, entries []json.RawMessage) error {
	if key.ProjectKey == w.key.ProjectKey && key.SessionID == w.key.SessionID {
		return w.append(ctx, key, entries, &w.claim)
	}
	return w.Store.Append(ctx, key, entries)
}
