// Package retention measures the size of a server's data by kind, and deletes the oldest data of a kind that
// exceeds its limit. Without a limit it deletes no data.
package retention
