// Package cluster is what several servers on one NATS cluster share: who they are, which of them owns a session, calls from one to another,
// and state with secrets. A program opens one [Cluster] and gives it to its server.
//
// Everything that servers exchange is sealed with the key of the cluster, which each server reads from a file: access to NATS alone lets no
// one call a method, forge a token or read a secret. The logs are not sealed.
package cluster
