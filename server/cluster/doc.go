// Package cluster connects several servers on one NATS cluster. It lists the servers, decides which of them owns a
// session, sends calls from one to another, and stores shared state such as tokens. A program opens one [Cluster] and
// passes it to its server.
//
// The servers encrypt all messages and shared state with the key of the cluster. Access to NATS is therefore not enough
// to call a method, forge a token or read a secret. Session logs are not encrypted.
package cluster
