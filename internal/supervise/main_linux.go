package supervise

import (
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// termGrace is the time that leftover processes have after SIGTERM, killGrace the time after SIGKILL. A
// process that has not ended by then is blocked in the kernel, or belongs to a user whose processes the
// supervisor may not signal.
const (
	termGrace = 500 * time.Millisecond
	killGrace = 5 * time.Second
)

// linked reports that this executable has package first.
var linked bool

// Self returns the path of this executable if it can be its own supervisor, else "". The path remains valid if
// the file is replaced or removed.
func Self() string {
	if !linked {
		return ""
	}
	return "/proc/self/exe"
}

// Enter makes this process a supervisor, and does not return, if it was started as one.
func Enter() {
	linked = true
	if len(os.Args) == 1 && os.Args[0] == Name {
		syscall.Exit(run()) // not os.Exit, which waits a second with the race detector
	}
}

// supervisor is the state of a supervisor process.
type supervisor struct {
	agent  int
	group  string        // see Spec.Group
	ended  chan struct{} // the agent has been reaped
	alone  chan struct{} // no descendants are left
	orders chan byte     // closed when the program that started the supervisor has ended

	mu     sync.Mutex // prevents signals to the id of a reaped agent
	reaped bool
	status syscall.WaitStatus
}

func run() int {
	const setName, setChildSubreaper = 15, 36
	name := append([]byte(Name)[:15], 0)
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setName, uintptr(unsafe.Pointer(&name[0])), 0)
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
	syscall.CloseOnExec(Descriptor)
	signals := make(chan os.Signal, 16)
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2} {
		if !signal.Ignored(sig) { // otherwise the agent ignores it too
			signal.Notify(signals, sig)
		}
	}
	s := &supervisor{ended: make(chan struct{}), alone: make(chan struct{}), orders: make(chan byte)}
	var err error = errno
	if errno == 0 {
		err = s.start()
	}
	if err != nil {
		errno, _ = err.(syscall.Errno)
		if reply(ReplyFailed, int(errno)); errno == 0 {
			return 1
		}
		return 0
	}
	reply(ReplyStarted, s.agent)
	letGo()
	go s.wait()
	go s.listen()
	if !s.watch(signals) {
		return 1
	}
	leaveGroup(s.group)
	reply(ReplyEnded, int(s.status))
	return 0
}

// start starts the agent that the other side describes.
func (s *supervisor) start() error {
	spec, err := readSpec()
	if err != nil {
		return err
	}
	s.group = spec.Group
	sys := &syscall.SysProcAttr{Setpgid: true}
	if len(spec.IDs) > 0 {
		sys.Credential = &syscall.Credential{Uid: spec.IDs[0], Gid: spec.IDs[1], Groups: spec.IDs[2:]}
	}
	s.agent, err = syscall.ForkExec(spec.Path, spec.Args, &syscall.ProcAttr{Dir: spec.Dir, Env: spec.Env, Files: []uintptr{0, 1, 2}, Sys: sys})
	return err
}

// maxSpec limits the size of a spec; the system's limit for arguments and environment is much lower.
const maxSpec = 64 << 20

func readSpec() (Spec, error) {
	size := 0
	for {
		var c [1]byte
		if n, err := syscall.Read(Descriptor, c[:]); n != 1 {
			return Spec{}, orEOF(err)
		}
		if c[0] == '\n' {
			break
		}
		if size = size*10 + int(c[0]-'0'); c[0] < '0' || c[0] > '9' || size > maxSpec {
			return Spec{}, syscall.EINVAL
		}
	}
	b := make([]byte, size)
	for n := 0; n < size; {
		m, err := syscall.Read(Descriptor, b[n:])
		if m <= 0 && err != syscall.EINTR {
			return Spec{}, orEOF(err)
		}
		n += max(m, 0)
	}
	return decode(b)
}

func orEOF(err error) error {
	if err == nil {
		return syscall.EPIPE
	}
	return err
}

// reply sends a line. It ignores errors, because the reader may have ended.
func reply(what string, n int) {
	_, _ = syscall.Write(Descriptor, []byte(what+" "+strconv.Itoa(n)+"\n"))
}

// letGo releases the resources of the agent, its streams and its directory, and the memory pages that the
// start of a large executable has touched.
func letGo() {
	if null, err := syscall.Open("/dev/null", syscall.O_RDWR|syscall.O_CLOEXEC, 0); err == nil {
		for fd := range 3 {
			_ = syscall.Dup3(null, fd, 0)
		}
		_ = syscall.Close(null)
	}
	_ = syscall.Chdir("/")
	Shrink()
}

// Shrink releases the pages of the executable that its start has touched; the system reads them from the file
// again on demand. It skips mappings with a page that was written before it was protected.
func Shrink() {
	maps, _ := os.ReadFile("/proc/self/smaps")
	const unwritten = "Anonymous:             0 kB"
	mapping := ""
	for begin, i := 0, 0; i < len(maps); i++ {
		if maps[i] != '\n' {
			continue
		}
		line := string(maps[begin:i])
		begin = i + 1
		if line != "" && (line[0] <= '9' || line[0] >= 'a') { // the others begin with a capital
			mapping = line
		}
		if line == unwritten {
			drop(mapping)
		}
	}
}

// drop releases the pages of a mapping "00400000-00500000 r-xp 0 fe:01 7 /path" that cannot be written to.
func drop(mapping string) {
	dash, blank := 0, 0
	for i, c := range mapping {
		if c == '-' && dash == 0 {
			dash = i
		}
		if c == ' ' && blank == 0 {
			blank = i
		}
	}
	if dash == 0 || blank < dash || len(mapping) < blank+5 || mapping[len(mapping)-1] == ']' || mapping[blank+1:blank+3] != "r-" || mapping[blank+4] != 'p' {
		return
	}
	begin, err := strconv.ParseUint(mapping[:dash], 16, 64)
	end, endErr := strconv.ParseUint(mapping[dash+1:blank], 16, 64)
	if err == nil && endErr == nil && end > begin {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(begin), uintptr(end-begin), syscall.MADV_DONTNEED)
	}
}

// leaveGroup moves this process to the group above its own and removes its former group.
func leaveGroup(path string) {
	above := len(path) - 1
	for above > 0 && path[above] != '/' {
		above--
	}
	if above <= 0 {
		return
	}
	fd, err := syscall.Open(path[:above]+"/cgroup.procs", syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return // it stays, and a later program removes the group
	}
	_, _ = syscall.Write(fd, []byte("0"))
	_ = syscall.Close(fd)
	_ = syscall.Rmdir(path)
}

// listen passes the orders from the socket to the channel orders, until the socket ends.
func (s *supervisor) listen() {
	defer close(s.orders)
	for {
		var c [1]byte
		n, err := syscall.Read(Descriptor, c[:])
		if err == syscall.EINTR {
			continue
		}
		if n != 1 {
			return
		}
		s.orders <- c[0]
	}
}

// wait reaps descendants until all have exited.
func (s *supervisor) wait() {
	defer close(s.alone)
	for {
		pid, err := AwaitChild(AnyChild, 0)
		if err == syscall.ECHILD {
			return
		}
		if err == nil {
			s.reap(pid)
		}
	}
}

func (s *supervisor) reap(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err == nil && pid == s.agent {
		s.reaped, s.status = true, status
		close(s.ended)
	}
}

// watch serves the agent until its end, then ends all descendants and reports whether all have ended.
func (s *supervisor) watch(signals <-chan os.Signal) bool {
	for {
		select {
		case <-s.ended:
			return s.end(true)
		case sig := <-signals:
			s.signalGroup(sig.(syscall.Signal))
		case order, ok := <-s.orders:
			if !ok || order == CommandKill {
				return s.end(!ok)
			}
			s.signalGroup(syscall.Signal(order))
		}
	}
}

func (s *supervisor) signalGroup(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.reaped {
		_ = syscall.Kill(-s.agent, sig)
	}
}

// end ends all descendants, first with SIGTERM if gentle is set.
func (s *supervisor) end(gentle bool) bool {
	if s.await(2 * time.Millisecond) { // usually the agent has left no processes
		return true
	}
	if gentle {
		for _, p := range Below(Tree(os.Getpid()), map[int]bool{os.Getpid(): true}, Table()) {
			p.Signal(syscall.SIGTERM, syscall.SIGCONT)
		}
		s.await(termGrace)
	}
	for wait := 20 * time.Millisecond; !s.await(0) && wait < killGrace; wait *= 2 {
		for _, p := range Freeze(Tree(os.Getpid()), map[int]bool{os.Getpid(): true}) {
			p.End()
		}
		s.await(wait)
	}
	return s.await(0)
}

// await waits until no descendants are left, or the other side orders to stop waiting. It reports
// whether all have exited.
func (s *supervisor) await(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	orders := s.orders
	for {
		select {
		case <-s.alone:
			return true
		default:
		}
		select {
		case <-s.alone:
			return true
		case order, ok := <-orders:
			if ok && order == CommandKill {
				return false
			}
			if !ok {
				orders = nil
			}
		case <-timer.C:
			return false
		}
	}
}
