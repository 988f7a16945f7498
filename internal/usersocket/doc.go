// Package usersocket opens Unix sockets between processes of one user.
//
// Paths of any length work. A process of another user cannot connect: the socket has mode 0600, and on Linux both ends check the user of
// the other with [CheckPeer].
package usersocket
