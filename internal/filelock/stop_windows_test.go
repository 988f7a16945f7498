package filelock_test

import (
	"errors"
	"os"
)

func stopProcess(*os.Process) error { return errors.New("the system stops no process") }
