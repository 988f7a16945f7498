// Package webpush makes the messages of Web Push: what a server sends to the push service of a
// browser, so that a page which is closed can show a notification.
//
// Three standards meet here, all with the standard library alone:
//
//   - RFC 8291 and RFC 8188: the payload is encrypted for one browser, whose keys came with its
//     [Subscription]. The push service cannot read it. See [Encrypt].
//   - RFC 8292 (VAPID): each request carries a token signed with the server's [Key], which the
//     browser was given when it subscribed. No other server can send to that subscription.
//   - RFC 8030: the header of a request has the time for which the push service keeps the message
//     (TTL), its urgency, and which older message it replaces (Topic). See [Message].
//
// [NewRequest] joins them. The package makes no connection: who sends the request decides where
// it may go. A server must check the address before and while it connects, because a
// subscription comes from a client and could name any address. An answer of 404 or 410 means
// that the subscription has ended; [Gone] knows them.
//
// A payload has at most [MaxPayload] bytes. It is padded to a multiple of 128, so that its
// length says little of its text.
package webpush
