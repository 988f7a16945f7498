// Package usersocket opens Unix sockets between processes of one user.
//
// A socket has the path of a plain file that names it. The socket itself is in a directory of the user below the temporary directory, or
// below the runtime directory of a service, so that the folder of the file can be copied by every program and can have any length and file
// system. The name is valid in this folder alone: a copy of the file opens nothing.
//
// A process of another user cannot connect: the directory has mode 0700, the socket 0600, and on Linux both ends check the user of the
// other with [CheckPeer].
package usersocket
