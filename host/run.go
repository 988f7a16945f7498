package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed7221b0f9/parley/internal/filelock"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/internal/usersocket"
	"github.com/seed7221b0f9/parley/spawn"
)

// DefaultOrphanTimeout is the default of Options.OrphanTimeout.
const DefaultOrphanTimeout = 24 * time.Hour

// Options configures a host. The zero value is usable.
type Options struct {
	// Supervisor is an executable that contains the supervisor, such as the parley command. Agents run below a
	// supervisor, which ends all descendants of an agent, even if the host is killed. Empty means this executable,
	// if it can be one.
	Supervisor string
	// Memory limits the bytes of an agent's records that wait in memory for the owner; 0 means 256 KiB.
	Memory int
	// Spool limits the bytes of an agent's records in files; 0 means 1 GiB. At the limit the agent blocks.
	Spool int64
	// OrphanTimeout is how long an agent runs without an owner; 0 means DefaultOrphanTimeout, 24 hours.
	OrphanTimeout time.Duration
	// IdleTimeout is how long a host runs without an owner and a running agent; 0 means a minute.
	IdleTimeout time.Duration
}

func (o Options) withDefaults() Options {
	def := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&o.OrphanTimeout, DefaultOrphanTimeout)
	def(&o.IdleTimeout, time.Minute)
	if o.Memory <= 0 {
		o.Memory = 256 << 10
	}
	if o.Spool <= 0 {
		o.Spool = 1 << 30
	}
	return o
}

// Names in the host's folder in the data directory.
const (
	folder      = "host"
	lockName    = "lock"
	socketName  = "sock"
	epochName   = "epoch"
	numberName  = "next"
	agentsName  = "agents"
	deadName    = "dead"
	registryDir = "registry"
	logName     = "host.log"
)

// server is a running host.
type server struct {
	o       Options
	dir     string
	info    Info
	log     *slog.Logger
	clock   clock
	disk    disk
	spawner func(keepChildren bool) spawn.Spawner
	temp    string      // folder for files with secrets
	close   func()      // ends run
	removed atomic.Bool // the folder was removed

	// owning is held for reading while a frame of the owner is executed, and for writing while the owner changes, so
	// that late frames of a previous owner have no effect.
	owning sync.RWMutex
	owner  *conn
	epoch  uint64

	mu     sync.Mutex
	agents map[uint32]*agent
	next   counter
	idle   timer
	conns  map[*conn]bool
	ending bool
}

// Run runs the host of a data directory in this process until ctx ends or the host is told to stop, which ends its
// agents, or until it has been idle. If there is already a host, it returns [ErrRunning]. It first ends leftover
// processes of a killed host's agents.
func Run(ctx context.Context, dataDir string, o Options, log *slog.Logger) (err error) {
	dir := filepath.Join(dataDir, folder)
	if err := os.MkdirAll(filepath.Join(dir, agentsName), 0o700); err != nil {
		return err
	}
	lock, err := filelock.TryLock(filepath.Join(dir, lockName))
	if errors.Is(err, filelock.ErrLocked) {
		return ErrRunning
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	registry, swept, err := proc.OpenRegistry(filepath.Join(dir, registryDir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, registry.Close()) }()
	if len(swept) > 0 {
		log.Warn("ended processes that an earlier host left running", "processes", len(swept))
	}
	h, err := newServer(dir, o, log)
	if err != nil {
		return err
	}
	h.temp = registry.TempDir()
	h.spawner = func(keepChildren bool) spawn.Spawner {
		return registry.Noted(nil, proc.LocalOptions{Supervisor: h.o.Supervisor, KeepChildren: keepChildren})
	}
	// An existing socket belongs to a killed host, because this one holds the lock.
	listener, err := usersocket.Listen(filepath.Join(dir, socketName))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { h.watchFolder(ctx, stop) })
	defer watching.Wait()
	defer stop()
	return h.run(ctx, listener)
}

// folderPoll is how often a host checks its folder.
const folderPoll = 2 * time.Second

// watchFolder ends the host when its socket was removed, because no owner can connect then. It returns with ctx.
func (h *server) watchFolder(ctx context.Context, end func()) {
	tick := time.NewTicker(folderPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if _, err := os.Lstat(filepath.Join(h.dir, socketName)); errors.Is(err, fs.ErrNotExist) {
				h.log.Warn("the folder of the host was removed: it ends with its agents")
				h.removed.Store(true)
				end()
			}
		}
	}
}

func newServer(dir string, o Options, log *slog.Logger) (*server, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	h := &server{
		o: o.withDefaults(), dir: dir, log: log, clock: systemClock{}, disk: systemDisk{}, agents: map[uint32]*agent{}, conns: map[*conn]bool{},
		next: counter(filepath.Join(dir, numberName)),
		info: Info{ID: random.Hex(8), PID: os.Getpid(), Started: time.Now()},
	}
	return h, h.buryDead()
}

// buryDead moves the agents of a killed host to a folder where ReadSpool finds them.
func (h *server) buryDead() error {
	entries, err := os.ReadDir(filepath.Join(h.dir, agentsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		err = errors.Join(err, os.MkdirAll(filepath.Join(h.dir, deadName), 0o700),
			os.Rename(filepath.Join(h.dir, agentsName, e.Name()), filepath.Join(h.dir, deadName, e.Name())))
	}
	return err
}

// listener is the socket of a host.
type listener interface {
	AcceptUnix() (*net.UnixConn, error)
	Close() error
}

// acceptPoll is the interval between retries of a failed accept, for example without a free file descriptor.
const acceptPoll = 100 * time.Millisecond

// run serves connections until the end of the host, then ends the agents.
func (h *server) run(ctx context.Context, listener listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	h.close = stop
	defer context.AfterFunc(ctx, func() { listener.Close() })()
	h.log.Info("the host runs", "pid", h.info.PID, "id", h.info.ID)
	h.idleSince()
	var serving sync.WaitGroup
	h.accept(ctx, listener, &serving)
	stop()
	listener.Close()
	h.endAgents()
	h.closeConns()
	serving.Wait()
	h.log.Info("the host ends")
	return nil
}

// accept accepts connections until ctx ends. It retries after errors, so that they do not end the agents.
func (h *server) accept(ctx context.Context, l listener, serving *sync.WaitGroup) {
	places, failing := make(chan struct{}, maxConns), false
	for ctx.Err() == nil {
		c, err := l.AcceptUnix()
		if err != nil {
			if !failing && ctx.Err() == nil {
				h.log.Error("connections cannot be accepted", "err", err)
			}
			failing = true
			select {
			case <-ctx.Done():
			case <-time.After(acceptPoll):
			}
			continue
		}
		failing = false
		select {
		case places <- struct{}{}:
		default:
			h.log.Warn("a connection was refused: there are too many", "limit", maxConns)
			c.Close()
			continue
		}
		serving.Go(func() {
			defer func() { <-places }()
			if err := usersocket.CheckPeer(c); err != nil {
				h.log.Warn("a connection was refused", "err", err)
				c.Close()
				return
			}
			h.serve(c)
		})
	}
}

// endLimit limits the wait for the end of the agents. Supervisors end the remaining agents when the host has exited.
const endLimit = 30 * time.Second

// endAgents ends all agents concurrently and lets no more start. If the folder was removed, it does
// not wait, because the ends cannot be recorded.
func (h *server) endAgents() {
	h.mu.Lock()
	h.ending = true
	agents := h.live()
	h.mu.Unlock()
	var each sync.WaitGroup
	for _, a := range agents {
		each.Go(func() {
			a.end()
			<-a.done
		})
	}
	ended := make(chan struct{})
	go func() {
		each.Wait()
		close(ended)
	}()
	limit := endLimit
	if h.removed.Load() {
		limit = 0
	}
	select {
	case <-ended:
	case <-time.After(limit):
	}
}

// live lists the agents that run. The caller holds mu.
func (h *server) live() (agents []*agent) {
	for _, a := range h.agents {
		select {
		case <-a.done:
		default:
			agents = append(agents, a)
		}
	}
	return agents
}

func (h *server) closeConns() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.idle != nil {
		h.idle.Stop()
	}
	for c := range h.conns {
		c.finish()
	}
}

// idleSince starts the idle timeout if there is no owner and no running agent.
func (h *server) idleSince() {
	h.owning.RLock()
	defer h.owning.RUnlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.idle != nil {
		h.idle.Stop()
		h.idle = nil
	}
	if h.owner == nil && len(h.live()) == 0 && !h.ending {
		h.idle = h.clock.AfterFunc(h.o.IdleTimeout, h.leave)
	}
}

// leave ends the host if it is still idle.
func (h *server) leave() {
	h.owning.RLock()
	defer h.owning.RUnlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.owner == nil && len(h.live()) == 0 && !h.ending {
		h.ending = true
		h.close()
	}
}

func (h *server) agentEnded() { h.idleSince() }

// take makes c the owner if its epoch is higher than all earlier ones, and closes the connection of
// the previous owner.
func (h *server) take(c *conn, epoch uint64) error {
	h.owning.Lock()
	defer h.owning.Unlock()
	if epoch <= h.epoch {
		return fmt.Errorf("%w: %d, this one has %d", ErrFenced, h.epoch, epoch)
	}
	if h.owner != nil {
		h.log.Info("another owner takes over", "epoch", epoch)
		h.owner.abort()
	}
	h.owner, h.epoch = c, epoch
	for _, a := range h.all() {
		a.detach()
		a.owned()
	}
	return nil
}

// lose is called when the connection of an owner has ended.
func (h *server) lose(c *conn) {
	h.mu.Lock()
	delete(h.conns, c)
	h.mu.Unlock()
	h.owning.Lock()
	lost := h.owner == c
	if lost {
		h.owner = nil
		for _, a := range h.all() {
			a.detach()
			a.orphaned()
		}
	}
	h.owning.Unlock()
	if lost {
		h.idleSince()
	}
}

// ifOrphaned calls f if there is no owner, and blocks new owners meanwhile.
func (h *server) ifOrphaned(f func()) {
	h.owning.RLock()
	defer h.owning.RUnlock()
	if h.owner == nil {
		f()
	}
}

// all lists the agents.
func (h *server) all() []*agent {
	h.mu.Lock()
	defer h.mu.Unlock()
	agents := make([]*agent, 0, len(h.agents))
	for _, a := range h.agents {
		agents = append(agents, a)
	}
	return agents
}

func (h *server) agent(number uint32) (*agent, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := h.agents[number]; a != nil {
		return a, nil
	}
	return nil, fmt.Errorf("%w: %d", ErrNoAgent, number)
}
