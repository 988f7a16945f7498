// Package retention measures what the data of a server takes, kind by kind, and deletes the oldest of a kind that
// is over its limit. Without a limit it deletes nothing.
package retention
