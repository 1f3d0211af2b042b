package source

import (
	"os/exec"
	"syscall"
	"unsafe"
)

var (
	kernel32                 = syscall.NewLazyDLL("kernel32.dll")
	createJobObject          = kernel32.NewProc("CreateJobObjectW")
	setInformationJobObject  = kernel32.NewProc("SetInformationJobObject")
	assignProcessToJobObject = kernel32.NewProc("AssignProcessToJobObject")
	terminateJobObject       = kernel32.NewProc("TerminateJobObject")
)

const (
	jobObjectExtendedLimitInformation = 9
	jobObjectLimitKillOnJobClose      = 0x2000
	processSetQuota                   = 0x0100
	processTerminate                  = 0x0001
	killedCode                        = 1
)

// jobLimits is JOBOBJECT_EXTENDED_LIMIT_INFORMATION.
type jobLimits struct {
	perProcessUserTimeLimit, perJobUserTimeLimit int64
	limitFlags                                   uint32
	minimumWorkingSetSize, maximumWorkingSetSize uintptr
	activeProcessLimit                           uint32
	affinity                                     uintptr
	priorityClass, schedulingClass               uint32
	ioInfo                                       [6]uint64
	processMemoryLimit, jobMemoryLimit           uintptr
	peakProcessMemoryUsed, peakJobMemoryUsed     uintptr
}

// A group is the job object of a child. Processes that the child starts belong
// to it, and end with it, even when this process is killed. What the child
// starts before it is assigned, in the first moment, does not.
type group struct {
	job     syscall.Handle
	process interface{ Kill() error }
}

func (g *group) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	g.process = cmd.Process
	job, _, _ := createJobObject.Call(0, 0)
	if job == 0 {
		return nil // then only the process itself can be ended
	}
	limits := jobLimits{limitFlags: jobObjectLimitKillOnJobClose}
	setInformationJobObject.Call(job, jobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), unsafe.Sizeof(limits))
	process, err := syscall.OpenProcess(processSetQuota|processTerminate, false, uint32(cmd.Process.Pid))
	if err == nil {
		assignProcessToJobObject.Call(job, uintptr(process))
		syscall.CloseHandle(process)
	}
	g.job = syscall.Handle(job)
	return nil
}

// terminate ends the processes: there is no gentler way for a process without a window or console.
func (g *group) terminate() { g.kill() }

func (g *group) kill() {
	if g.job != 0 {
		terminateJobObject.Call(uintptr(g.job), killedCode)
	}
	g.process.Kill()
}

func (g *group) sweep() {
	if g.job != 0 {
		terminateJobObject.Call(uintptr(g.job), killedCode)
	}
}

func (g *group) release() {
	if g.job != 0 {
		syscall.CloseHandle(g.job)
	}
}
