package nats

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed7221b0f9/parley/claude"
)

// summaryOf returns the summary in the last part of a record of a main transcript. Its time is that of the message.
func summaryOf(id string, m message) (*claude.StoredSummary, error) {
	data, err := base64.StdEncoding.DecodeString(m.header.Get(headerSummary))
	if err == nil && !json.Valid(data) {
		err = fmt.Errorf("the summary of session %q is not JSON", id)
	}
	return &claude.StoredSummary{SessionID: id, ModTime: m.time, Data: data}, err
}

// listed is a session with a main transcript.
type listed struct {
	project string
	claude.StoredSummary
}

// list returns the sessions with main transcripts that match a subject.
func (s *Store) list(ctx context.Context, subject string) ([]listed, error) {
	var all []listed
	var cut []claude.SessionKey // sessions with an incomplete last record
	config := jetstream.ConsumerConfig{FilterSubject: subject, DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, HeadersOnly: true}
	err := s.read(ctx, config, func(m message) error {
		project, id := s.keyOf(m.subject)
		if m.header.Get(headerSummary) == "" {
			cut = append(cut, claude.SessionKey{ProjectKey: project, SessionID: id})
			return nil
		}
		sum, err := summaryOf(id, m)
		all = append(all, listed{project, *sum})
		return err
	})
	for _, key := range cut {
		if err != nil {
			break
		}
		c, release := s.use(key)
		if err = s.refresh(ctx, c); err == nil && c.summary != nil {
			all = append(all, listed{key.ProjectKey, *c.summary})
		}
		release()
	}
	return all, wrap(err)
}

// ListSessions returns the sessions of a project that have a main transcript, in no particular order.
func (s *Store) ListSessions(ctx context.Context, projectKey string) ([]claude.StoredSession, error) {
	all, err := s.list(ctx, s.name+"."+token(projectKey)+".*."+kindMain)
	var out []claude.StoredSession
	for _, l := range all {
		out = append(out, claude.StoredSession{SessionID: l.SessionID, ModTime: l.ModTime})
	}
	return out, err
}

// FindSession returns the projects that have a main transcript of the session, or nil if there is no such session.
func (s *Store) FindSession(ctx context.Context, sessionID string) (projects []string, err error) {
	all, err := s.list(ctx, s.name+".*."+token(sessionID)+"."+kindMain)
	for _, l := range all {
		projects = append(projects, l.project)
	}
	slices.Sort(projects)
	return projects, err
}

// ListSummaries returns the summaries of all sessions of a project that have a main transcript, in no particular order.
func (s *Store) ListSummaries(ctx context.Context, projectKey string) ([]claude.StoredSummary, error) {
	all, err := s.list(ctx, s.name+"."+token(projectKey)+".*."+kindMain)
	var out []claude.StoredSummary
	for _, l := range all {
		out = append(out, l.StoredSummary)
	}
	return out, err
}
