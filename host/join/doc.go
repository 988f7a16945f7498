// Package join connects the host of a machine with a server on another one.
//
// The machine dials the server, so that it opens no port. It registers its name, its agents and the directories that it offers. The server
// then owns the host over this connection, within the limits of a [host.Policy]: it names an agent, a directory and [Options], and the
// machine makes the command. When the connection breaks, the agents run on, and the machine dials again.
package join
