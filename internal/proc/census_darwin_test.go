package proc

// Neither can be asked here without another program.
func childProcesses() []string { return nil }
func openFiles() []string      { return nil }
