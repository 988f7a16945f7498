package eventlog

import "github.com/nats-io/nats.go"

// Conn returns the connection to the cluster of [Options].URL, nil for an embedded store. Close closes it.
func (s *Store) Conn() *nats.Conn {
	if s.dir != nil {
		return nil
	}
	return s.nc
}

// Options returns the options of the store, with defaults in place of zero values, and the LeaseTTL of the cluster.
func (s *Store) Options() Options { return s.opts }
