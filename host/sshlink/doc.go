// Package sshlink connects a server with a host on another machine over the system's ssh. The machine runs the server's own program,
// which is copied there on the first use. Keys, known hosts and further settings are those of ssh.
package sshlink
