// Package acphttp serves an agent that speaks the Agent Client Protocol over streamable HTTP and
// WebSocket. It is compatible with the transports of @agentclientprotocol/sdk 2.4.
//
// One address serves both. Over HTTP a client posts its messages and reads those of the agent from
// event streams, one for the connection and one for each session. Over WebSocket each text frame is
// a message. [Handler.Serve] gives the agent the messages of a connection as lines.
//
// A connection belongs to the owner that opened it. Messages that wait for a reader are bounded: the
// agent blocks while there are too many, and a client that does not read loses its connection.
package acphttp
