// Package preview shows the web server that an agent has started, for example that of a page it
// works on, to the person who runs the session, and to no one else.
//
// # Origins
//
// What an agent serves is as untrusted as what it writes. A previewed page therefore never has
// the origin of Parley's page: browsers keep its storage, its service workers and its scripts
// apart. Each pair of session and port has an origin of its own too, so that two previews
// cannot read each other. [ParseOrigins] knows two ways:
//
//   - A name for each, https://*.preview.example.org, or http://*.localhost:7718 on this machine,
//     where browsers resolve every such name to the loopback interface. Cookies are kept apart
//     as well. This is the better way.
//   - A port for each, http://192.168.1.5:7720-7727, where there are no names. Cookies do not
//     tell ports apart, so that those of the previewed server are renamed and hidden from
//     scripts.
//
// # Access
//
// [Proxy.Open] returns an address with a code in it that works once and for a minute. It is
// exchanged for a cookie that scripts cannot read, which is good for one preview, until it
// expires or its holder loses the right to it. A request must also have the Host of its preview
// and, where the browser says so, come from it: only a person's step from another page may
// begin outside. Sockets must name their origin.
//
// # What passes
//
// Requests go to a port that Options.Dial connects to; it must refuse ports which are not the
// session's, at each call. The server sees Host localhost:PORT, its own cookies, and nothing of
// Parley's: no cookie, no token, no address of the client. Its answers pass as they come, also
// streams of events and upgrades to WebSocket, without headers that would be in force for other
// origins of the same host (Strict-Transport-Security, Clear-Site-Data, Alt-Svc, reports), and
// with ones that keep other pages from framing or reading them.
package preview
