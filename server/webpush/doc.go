// Package webpush creates Web Push messages, which a server sends to the push service of a browser,
// so that a closed page can show a notification.
//
// It implements three standards with only the standard library:
//
//   - RFC 8291 and RFC 8188: the payload is encrypted for one browser, with the keys of its
//     [Subscription]. The push service cannot read it. See [Encrypt].
//   - RFC 8292 (VAPID): each request carries a token signed with the server's [Key], which the
//     browser was given when it subscribed. No other server can send to that subscription.
//   - RFC 8030: the header of a request has the time for which the push service keeps the message
//     (TTL), its urgency, and which older message it replaces (Topic). See [Message].
//
// [NewRequest] combines them. The package makes no connection: the sender of the request decides
// about its target. A server must check the address before and while it connects, because a
// subscription comes from a client and could name any address. A response of 404 or 410 means that
// the subscription has ended; see [Gone].
//
// A payload has at most [MaxPayload] bytes. It is padded to a multiple of 128, so that its length
// reveals little about its text.
package webpush
