package daemon

import (
	"errors"
	"syscall"
	"unsafe"
)

// xucred is struct xucred of <sys/ucred.h>.
type xucred struct {
	version uint32
	uid     uint32
	ngroups int16
	groups  [16]uint32
}

// Of <sys/un.h> and <sys/ucred.h>.
const (
	solLocal      = 0
	localPeerCred = 1
	xucredVersion = 0
)

func peerUID(fd int) (int, error) {
	var cred xucred
	size := uint32(unsafe.Sizeof(cred))
	_, _, errno := syscall.Syscall6(syscall.SYS_GETSOCKOPT, uintptr(fd), solLocal, localPeerCred,
		uintptr(unsafe.Pointer(&cred)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return -1, errno
	}
	if cred.version != xucredVersion {
		return -1, errors.New("credentials of an unknown form")
	}
	return int(cred.uid), nil
}
