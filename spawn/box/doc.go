// Package box runs the process of an agent in a box of bubblewrap, on Linux. In the box the process sees the system's programs, its
// working directory, an empty home, the files that a [Box] names, its own processes, and the network only if the Box has it.
//
// [Box.Command] returns the command that runs another one in the box; [Box.Spawner] starts such commands and fails, with the cause
// and a remedy, where the system refuses a box. Inside, this program is the first process: [Enter] drops the terminal, opens the
// doors of the box, which are loopback ports that lead to Unix sockets outside, and starts the command.
package box
