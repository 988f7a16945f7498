package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// Hosts is the list of a cluster's hosts: the processes that own the agents of sessions and outlive the servers. A lease makes a
// server the owner of a host, as for a session. Every server has the list, so that another server on the machine can take over the
// host of a dead one. The methods may be called from any goroutine.
type Hosts struct {
	c       *Cluster
	bucket  *Bucket
	machine string

	mu  sync.Mutex
	all map[string]HostInfo
}

// HostInfo describes a host.
type HostInfo struct {
	Key     string `json:"key"`     // the name of its lease
	Machine string `json:"machine"` // the name of its machine
	Dir     string `json:"dir"`     // its data directory
	ID      string `json:"id"`      // the content of a file in the directory
}

const (
	hostsBucket = "HOSTS"
	hostPrefix  = "h-" // of the keys of hosts
	hostFile    = "host-id"
	maxHostFile = 1 << 10
)

// Hosts opens the list of hosts. machine is the name of the machine of this server.
func (c *Cluster) Hosts(ctx context.Context, machine string) (*Hosts, error) {
	h := &Hosts{c: c, machine: machine, all: map[string]HostInfo{}}
	var err error
	if h.bucket, err = c.Bucket(ctx, hostsBucket, 0); err == nil {
		err = h.bucket.Watch(ctx, h.learn)
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

func (h *Hosts) learn(e Entry) {
	var info HostInfo
	if e.Value != nil && (json.Unmarshal(e.Value, &info) != nil || info.Key != e.Key) {
		h.c.logger.Error("a host of the cluster cannot be read", "key", e.Key)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Value == nil {
		delete(h.all, e.Key)
	} else {
		h.all[e.Key] = info
	}
}

// describe returns the description of the host in a data directory. The first call creates the file with its id.
func (h *Hosts) describe(dir string) (HostInfo, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return HostInfo{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return HostInfo{}, fmt.Errorf("cluster: %w", err)
	}
	id, err := readHostID(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && id == "" {
		id = random.Hex(8)
		err = os.WriteFile(filepath.Join(dir, hostFile), []byte(id+"\n"), 0o600)
	}
	if err != nil {
		return HostInfo{}, fmt.Errorf("cluster: %w", err)
	}
	sum := sha256.Sum256([]byte(h.machine + "\x00" + dir + "\x00" + id)) // the directory may be a copy of another one
	return HostInfo{hostPrefix + hex.EncodeToString(sum[:12]), h.machine, dir, id}, nil
}

func readHostID(dir string) (string, error) {
	data, err := regularfile.Read(filepath.Join(dir, hostFile), maxHostFile)
	return strings.TrimSpace(string(data)), err
}

// Own makes this server the owner of the host in a data directory and adds the host to the list. If a server owns it, even this one, or if
// fresh is set and the list has the host, the error is a [*HeldError].
func (h *Hosts) Own(ctx context.Context, dir string, fresh bool) (*Lease, string, error) {
	info, err := h.describe(dir)
	if err != nil {
		return nil, "", err
	}
	if fresh && h.Known(info.Key) {
		return nil, info.Key, &HeldError{Session: info.Key}
	}
	lease, err := h.c.own(ctx, info.Key, false)
	if err != nil {
		return nil, info.Key, err
	}
	data, err := json.Marshal(info)
	if err == nil {
		err = h.bucket.Put(ctx, info.Key, data)
	}
	if err != nil {
		lease.Release()
		return nil, info.Key, err
	}
	h.learn(Entry{Key: info.Key, Value: data})
	return lease, info.Key, nil
}

// Forget removes a host that has ended from the list. The caller owns it, or no server does.
func (h *Hosts) Forget(ctx context.Context, key string) error {
	h.learn(Entry{Key: key})
	return h.bucket.Remove(ctx, key)
}

// Known reports whether the list has a host.
func (h *Hosts) Known(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.all[key]
	return ok
}

// On returns the keys of the hosts on a machine.
func (h *Hosts) On(machine string) (keys []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, info := range h.all {
		if info.Machine == machine {
			keys = append(keys, key)
		}
	}
	return keys
}

// Machine returns the name of the machine of a host, or "".
func (h *Hosts) Machine(key string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[key].Machine
}

// Here returns the data directories of the hosts that this server can reach, by their keys.
func (h *Hosts) Here() map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := map[string]string{}
	for key, info := range h.all {
		if info.Machine != h.machine {
			continue
		}
		if id, err := readHostID(info.Dir); err == nil && id == info.ID {
			found[key] = info.Dir
		}
	}
	return found
}
