// Package keyproxy adds an API key to the requests of agents, so that agents never have the key.
//
// A [Proxy] listens on a loopback port. Each session gets a random token ([Proxy.Grant]), which its
// agent uses like the key; the proxy replaces it by the key and forwards the request to its only
// upstream address. The token is useless elsewhere and expires with the session, which also ends
// its running requests.
//
// The proxy rejects an unknown token, a Host other than its own, a request of a web page, a method
// other than GET, HEAD and POST, a body over its limit, more concurrent requests than a session may
// have, and a response that redirects.
//
// Where [Options].Allow names hosts, an agent can also reach these, by CONNECT with its token: the way out of a box without a network.
// The proxy does not see what passes through a tunnel.
//
// Responses are streamed, including event streams. Connection headers and cookies are dropped in
// both directions.
package keyproxy
