package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/host/join"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/place"
	"github.com/seed7221b0f9/parley/spawn"
)

// Machines holds the machines that have joined the server, by name. They run the agents of sessions
// that name them. Its methods may be called from any goroutine.
type Machines struct {
	epochs string // the data directory with the counter of epochs
	opts   HostOptions
	logger *slog.Logger
	owners Owners // of a cluster; nil for a single server
	// reached is called when a machine is reachable; left holds its agents.
	reached func(ctx context.Context, m *machine)

	mu   sync.Mutex
	all  map[string]*machine
	left bool // no machine can join any more
}

// NewMachines returns machines that take their epochs from a data directory.
func NewMachines(dataDir string, opts HostOptions, logger *slog.Logger) *Machines {
	return &Machines{epochs: dataDir, opts: opts, logger: logger, all: map[string]*machine{}}
}

// machine is a machine that has joined, now or earlier. Machines.mu guards its fields.
type machine struct {
	host.Registration
	all   *Machines
	token string     // the id of the token with which it joined first
	link  *host.Link // nil while the machine is unreachable
	since time.Time  // of the last change of link
	left  map[string]*leftAgent
}

// LinkedPrefix is the prefix of the id of a machine without a token, because the server connected
// to it. No token has such an id.
const LinkedPrefix = "link:"

// maxMachines limits the machines, maxMachineName the bytes of a name.
const (
	maxMachines    = 1000
	maxMachineName = 64
)

// check returns an error if a machine cannot join.
func (ms *Machines) check(r host.Registration, token string) error {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	valid := r.Name != "" && len(r.Name) <= maxMachineName && !strings.ContainsFunc(r.Name, func(c rune) bool {
		return c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
	switch m := ms.all[r.Name]; {
	case ms.left:
		return errors.New("the server is stopping")
	case !valid:
		return fmt.Errorf("the name %q is invalid: use at most %d letters, digits, dots, dashes and underscores", r.Name, maxMachineName)
	case r.Version < host.Version:
		return fmt.Errorf("%w: %d", host.ErrVersion, r.Version)
	case m != nil && m.token != token:
		return fmt.Errorf("machine %q has joined with another token; choose another name", r.Name)
	case m == nil && len(ms.all) >= maxMachines:
		return fmt.Errorf("%d machines have joined", maxMachines)
	}
	return nil
}

// Serve serves the connection of a machine until it or ctx ends. A new connection of a machine replaces the earlier one, which can be
// broken without being closed. The machine's name belongs to its token until the server stops. Serve closes conn.
func (ms *Machines) Serve(ctx context.Context, conn net.Conn, token string) error {
	defer conn.Close()
	r, err := host.AcceptRegistration(ctx, conn, func(r host.Registration) error { return ms.check(r, token) })
	if err != nil {
		return err
	}
	epoch, release, err := ms.own(ctx, r.Name, strings.HasPrefix(token, LinkedPrefix))
	if err != nil {
		return err
	}
	defer release()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	link, err := host.NewLink(ctx, conn, epoch)
	if err != nil {
		return err
	}
	defer link.Close()
	m, err := ms.connected(ctx, r, link, token)
	if err != nil {
		return err
	}
	ms.logger.Info("a machine has joined", "machine", r.Name)
	ms.reached(ctx, m)
	beat(link)
	ms.disconnected(m, link)
	ms.logger.Warn("a machine is unreachable", "machine", r.Name, "err", link.Err())
	return link.Err()
}

// beat sends beats until a link ends.
func beat(link *host.Link) {
	ticker := time.NewTicker(join.PingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-link.Done():
			return
		case <-ticker.C:
			_ = link.Beat() // a failure ends the link
		}
	}
}

// own returns the epoch for a new link to a machine. In a cluster it makes this server the owner of
// the machine until release is called: a machine that connects to this server has left the earlier
// one, and a machine that servers connect to stays with the first.
func (ms *Machines) own(ctx context.Context, name string, dialed bool) (epoch uint64, release func(), err error) {
	if ms.owners == nil {
		epoch, err = host.NextEpoch(ms.epochs)
		return epoch, func() {}, err
	}
	ms.cut(name) // the previous connection holds the lease
	key := machineKey(name)
	for {
		o, err := ms.owners.Own(ctx, key)
		if err == nil {
			return clusterEpoch + o.Epoch(), o.Release, nil
		}
		if !isNotOwner(err) {
			return 0, nil, err
		}
		if owner, err := ms.owners.Owner(ctx, key); err == nil && owner != "" && !dialed {
			if err := ms.owners.Yield(ctx, owner, "", key); err != nil {
				ms.logger.Debug("the previous server of a machine does not answer", "machine", name, "owner", owner, "err", err)
			}
		}
		select {
		case <-time.After(claimPause):
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		}
	}
}

// machineKey returns the name of a machine's lease; machineOf is its inverse. Names of leases have
// no dots.
func machineKey(name string) string {
	return machinePrefix + strings.NewReplacer("_", "__", ".", "_d").Replace(name)
}

func machineOf(key string) (name string, ok bool) {
	text, ok := strings.CutPrefix(key, machinePrefix)
	return strings.NewReplacer("__", "_", "_d", ".").Replace(text), ok
}

const machinePrefix = "m-"

// cut closes the link to a machine.
func (ms *Machines) cut(name string) {
	m := ms.get(name)
	if m == nil {
		return
	}
	ms.mu.Lock()
	link := m.link
	ms.mu.Unlock()
	if link != nil {
		link.Close()
	}
}

// connected makes a machine reachable with a link.
func (ms *Machines) connected(ctx context.Context, r host.Registration, link *host.Link, token string) (*machine, error) {
	agents, err := link.Agents(ctx)
	if err != nil {
		return nil, err
	}
	left := map[string]*leftAgent{}
	for _, a := range agents {
		l := &leftAgent{Agent: a, link: link}
		l.open = func(ctx context.Context) (_ spawn.LineProcess, err error) {
			l.process, err = link.Attach(ctx, a.Number, 0)
			return l.process, err
		}
		l.drop = l.end
		if old := left[a.Key]; old != nil {
			_ = old.drop(ctx) // the newest link counts; the next connection lists this agent again
		}
		left[a.Key] = l
	}
	m, old := ms.replace(r, link, left, token)
	if old != nil {
		old.Close() // sessions notice its end
	}
	return m, nil
}

// replace sets the link of a machine and returns the previous one.
func (ms *Machines) replace(r host.Registration, link *host.Link, left map[string]*leftAgent, token string) (m *machine, old *host.Link) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	m = ms.all[r.Name]
	if m == nil {
		m = &machine{all: ms, token: token}
		ms.all[r.Name] = m
	}
	old = m.link
	m.Registration, m.link, m.since, m.left = r, link, time.Now(), left
	return m, old
}

// disconnected makes a machine unreachable, unless it has a newer link.
func (ms *Machines) disconnected(m *machine, link *host.Link) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if m.link == link {
		m.link, m.left, m.since = nil, nil, time.Now()
	}
}

// leave closes all links and leaves the agents running.
func (ms *Machines) leave() {
	if ms == nil {
		return
	}
	ms.mu.Lock()
	ms.left = true
	var links []*host.Link
	for _, m := range ms.all {
		if m.link != nil {
			links = append(links, m.link)
		}
	}
	ms.mu.Unlock()
	for _, l := range links {
		l.Close()
	}
}

// get returns a machine, or nil.
func (ms *Machines) get(name string) *machine {
	if ms == nil {
		return nil
	}
	ms.mu.Lock()
	defer ms.mu.Unlock()
	return ms.all[name]
}

// List describes the machines in the order of their names.
func (ms *Machines) List() []api.Machine {
	list := []api.Machine{}
	if ms == nil {
		return list
	}
	ms.mu.Lock()
	defer ms.mu.Unlock()
	for _, m := range ms.all {
		list = append(list, m.describe())
	}
	slices.SortFunc(list, func(a, b api.Machine) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Find returns the description of a machine, or an error if the machine is unreachable.
func (ms *Machines) Find(name string) (api.Machine, error) {
	m := ms.get(name)
	if m == nil {
		return api.Machine{}, Invalid("no machine %q has joined", name)
	}
	if _, err := m.reach(); err != nil {
		return api.Machine{}, err
	}
	ms.mu.Lock()
	defer ms.mu.Unlock()
	return m.describe(), nil
}

// describe returns the description of the machine for clients. The caller holds mu.
func (m *machine) describe() api.Machine {
	state := api.MachineReachable
	if m.link == nil {
		state = api.MachineUnreachable
	}
	token := m.token
	if strings.HasPrefix(token, LinkedPrefix) {
		token = "" // such an id cannot be revoked
	}
	return api.Machine{Name: m.Name, State: state, Since: Timestamp(m.since), System: m.System, Labels: m.Labels, Agents: append([]string{}, m.Agents...),
		Directories: append([]string{}, m.Dirs...), Slots: int64(m.Slots), MaxMode: m.MaxMode, Box: m.Box, Token: token}
}

// reach returns the link to the machine, or an error if it is not connected.
func (m *machine) reach() (*host.Link, error) {
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	if m.link == nil || m.link.Err() != nil {
		return nil, unreachable(m.Name, m.since)
	}
	return m.link, nil
}

// unreachable returns the failure of calls to agents of a machine without a link.
func unreachable(name string, since time.Time) error {
	return Fail(api.NotConnected, "machine %q is unreachable since %s; its agents run on", name, Timestamp(since))
}

// take returns the agent that an earlier owner of the session has left on the machine, once, or
// nil. known is false if the machine is unreachable.
func (m *machine) take(session string) (l *leftAgent, known bool) {
	if m == nil {
		return nil, false
	}
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	if m.link == nil || m.link.Err() != nil {
		return nil, false
	}
	l = m.left[session]
	delete(m.left, session)
	return l, true
}

// sessions returns the sessions with an agent that an earlier owner has left.
func (m *machine) sessions() (ids []string) {
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	for id := range m.left {
		ids = append(ids, id)
	}
	return ids
}

// spawner starts the agent of a session on the machine.
func (m *machine) spawner(session, provider, resume string, opts *agent.Options) (*hostSpawner, error) {
	text, err := join.OptionsOf(*opts, resume).Encode()
	if err != nil {
		return nil, err
	}
	s := &hostSpawner{}
	s.start = func(ctx context.Context, _ spawn.Command) (*host.Process, error) {
		link, err := m.reach()
		if err != nil {
			return nil, err
		}
		p, err := link.Launch(ctx, host.Launch{Agent: provider, Dir: opts.Dir, Options: text}, m.all.opts.agent(session, opts))
		if errors.Is(err, host.ErrRefused) {
			err = Fail(api.Unsupported, "machine %q: %v", m.Name, err)
		}
		return p, err
	}
	return s, nil
}

// place returns access to the files and the history of a machine.
func (ms *Machines) place(name string) (place.Place, error) {
	m := ms.get(name)
	if m == nil {
		return nil, Fail(api.NotConnected, "machine %q has not joined since the server started", name)
	}
	return place.Remote{Call: m.call, Dial: m.dial}, nil
}

// call calls a method on the machine.
func (m *machine) call(ctx context.Context, method string, params json.RawMessage) ([]byte, error) {
	link, err := m.reach()
	if err != nil {
		return nil, err
	}
	text, err := link.Call(ctx, method, params)
	switch {
	case errors.Is(err, host.ErrLinkLost):
		return nil, Fail(api.NotConnected, "the link to machine %q was lost meanwhile", m.Name)
	case errors.Is(err, host.ErrRefused):
		return nil, Fail(api.Unsupported, "machine %q: %v", m.Name, err)
	}
	return text, err
}

// dial opens a connection to an address on the machine.
func (m *machine) dial(ctx context.Context, method string, params json.RawMessage) (net.Conn, error) {
	link, err := m.reach()
	if err != nil {
		return nil, err
	}
	return link.Tunnel(ctx, method, params)
}

// remoteProvider is the provider of a session on another machine, without the features that need the agent's files.
type remoteProvider struct {
	agent.Provider
	agent.Adopter
}

// Resume continues a session of the machine.
func (e remoteProvider) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	r, ok := e.Provider.(agent.Resumer)
	if !ok {
		return nil, agent.ErrUnsupported
	}
	return r.Resume(ctx, id, opts)
}
