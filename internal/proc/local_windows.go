package proc

import (
	"context"
	"os"
	"syscall"
	"unsafe"

	"github.com/seed7221b0f9/parley/spawn"
)

const createNoWindow = 0x08000000

var (
	kernel32                 = syscall.NewLazyDLL("kernel32.dll")
	createJobObject          = kernel32.NewProc("CreateJobObjectW")
	setInformationJobObject  = kernel32.NewProc("SetInformationJobObject")
	assignProcessToJobObject = kernel32.NewProc("AssignProcessToJobObject")
	terminateJobObject       = kernel32.NewProc("TerminateJobObject")
)

// tree is the job of the child and its descendants. Closing its last handle, which also happens when
// this process dies, ends them all.
type tree struct{ job syscall.Handle }

func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: createNoWindow}
}

// start attaches the job right after the start: os/exec keeps no handle of the main thread, so a
// suspended child could not be resumed with documented calls.
func (c *child) start(context.Context) error {
	job, err := newJob()
	if err != nil {
		return err
	}
	if err := c.cmd.Start(); err != nil {
		syscall.CloseHandle(job)
		return err
	}
	if err := assign(job, c.cmd.Process); err != nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		syscall.CloseHandle(job)
		return err
	}
	c.tree = tree{job}
	return nil
}

func newJob() (syscall.Handle, error) {
	h, _, err := createJobObject.Call(0, 0)
	if h == 0 {
		return 0, os.NewSyscallError("CreateJobObject", err)
	}
	job := syscall.Handle(h)
	if err := killOnClose(job); err != nil {
		syscall.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// killOnClose sets JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE. The structure is filled by offset, because its
// padding on 32 bits differs from Go's.
func killOnClose(job syscall.Handle) error {
	const (
		extendedLimitInformation = 9
		limitKillOnJobClose      = 0x2000
		flagsOffset              = 16
		size32, size64           = 112, 144
	)
	var info [size64 / 8]uint64
	size := uintptr(size64)
	if unsafe.Sizeof(uintptr(0)) == 4 {
		size = size32
	}
	*(*uint32)(unsafe.Pointer(&info[flagsOffset/8])) = limitKillOnJobClose
	ok, _, err := setInformationJobObject.Call(uintptr(job), extendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), size)
	if ok == 0 {
		return os.NewSyscallError("SetInformationJobObject", err)
	}
	return nil
}

func assign(job syscall.Handle, p *os.Process) (err error) {
	handleErr := p.WithHandle(func(h uintptr) {
		if ok, _, callErr := assignProcessToJobObject.Call(uintptr(job), h); ok == 0 {
			err = os.NewSyscallError("AssignProcessToJobObject", callErr)
		}
	})
	if handleErr != nil {
		return handleErr
	}
	return err
}

// terminateTree has no effect: there is no signal for a process without a console.
func (c *child) terminateTree() error { return nil }

func (c *child) killTree() error {
	if ok, _, err := terminateJobObject.Call(uintptr(c.tree.job), 1); ok == 0 {
		return os.NewSyscallError("TerminateJobObject", err)
	}
	return nil
}

func (c *child) reap() error {
	err := c.cmd.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.killTree()
	c.reaped = true
	syscall.CloseHandle(c.tree.job)
	return err
}

func exitStatus(state *os.ProcessState) spawn.ExitStatus {
	return spawn.ExitStatus{Code: state.ExitCode()}
}
