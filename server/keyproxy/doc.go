// Package keyproxy adds an API key to the requests of agents, so that no agent holds it.
//
// A [Proxy] listens on a loopback port. Each session gets a random token of its own
// ([Proxy.Grant]), which its agent uses as if it were the key; the proxy puts the key in its
// place and forwards the request to the one address that it was made for. The token is worth
// nothing elsewhere and ends with the session, with the requests that it has under way.
//
// What the proxy refuses: a token that it did not give, a Host other than its own, a request
// of a web page, a method other than GET, HEAD and POST, a body over its bound, more requests
// at once than a session may have, and an answer that redirects.
//
// Answers are passed on as they come, so that a stream of events stays one. Headers of the
// connection and cookies are dropped in both directions.
package keyproxy
