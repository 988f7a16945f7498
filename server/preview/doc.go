// Package preview shows the web server that an agent has started, for example that of a page it
// works on, only to the person who runs the session.
//
// # Origins
//
// A page served by an agent is as untrusted as its text. A previewed page therefore never has the
// origin of Parley's page: browsers separate its storage, its service workers and its scripts. Each
// pair of session and port also has a separate origin, so that two previews cannot read each other.
// [ParseOrigins] supports two forms:
//
//   - A name for each, https://*.preview.example.org, or http://*.localhost:7718 on this machine,
//     where browsers resolve every such name to the loopback interface. Cookies are kept apart
//     as well. This form is preferable.
//   - A port for each, http://192.168.1.5:7720-7727, where there are no names. Cookies do not
//     tell ports apart, so that those of the previewed server are renamed and hidden from
//     scripts.
//
// # Access
//
// [Proxy.Open] returns an address with a code in it that works once and for a minute. It is
// exchanged for a cookie that scripts cannot read, which is valid for one preview, until it expires
// or its holder loses access. A request must also have the Host of its preview and, if the browser
// reports the origin, come from it: only a navigation from another page may start outside. Sockets
// must name their origin.
//
// # Forwarding
//
// Requests go to a port that Options.Dial connects to; it must reject ports of others, at each
// call. The server sees Host localhost:PORT, its own cookies, and no data of Parley: no cookie, no
// token, no address of the client. Its responses are streamed, including event streams and upgrades
// to WebSocket, without headers that would apply to other origins of the same host
// (Strict-Transport-Security, Clear-Site-Data, Alt-Svc, reports), and with headers that keep other
// pages from framing or reading them.
package preview
