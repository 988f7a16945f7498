//go:build unix

package proc

import (
	"fmt"
	"os/user"
	"strconv"
	"syscall"
)

// runAs makes the child run as another user, with all groups of that user.
func runAs(attr *syscall.SysProcAttr, name string) error {
	u, err := user.Lookup(name)
	if err != nil {
		if u, err = user.LookupId(name); err != nil {
			return fmt.Errorf("no user %q: %w", name, err)
		}
	}
	ids, err := u.GroupIds()
	if err != nil {
		return fmt.Errorf("the groups of user %q: %w", name, err)
	}
	cred := &syscall.Credential{}
	for i, id := range append([]string{u.Uid, u.Gid}, ids...) {
		n, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return fmt.Errorf("user %q: %w", name, err)
		}
		switch i {
		case 0:
			cred.Uid = uint32(n)
		case 1:
			cred.Gid = uint32(n)
		default:
			cred.Groups = append(cred.Groups, uint32(n))
		}
	}
	attr.Credential = cred
	return nil
}
