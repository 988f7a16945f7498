package session

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// ScopedKey returns the idempotency key of a call of one caller and one method: a session stores the keys of all of them.
func ScopedKey(account, method, key string) string {
	sum := sha256.Sum256([]byte(account + "\x00" + method))
	return hex.EncodeToString(sum[:]) + ":" + key
}

// unscoped returns the key that the client sent, and whether key is a scoped one.
func unscoped(key string) (raw string, ok bool) {
	scope, raw, ok := strings.Cut(key, ":")
	return raw, ok && len(scope) == hex.EncodedLen(sha256.Size)
}

// sameKey reports whether a stored key is that of a call. Keys that an earlier version stored have no scope and count for every caller.
func sameKey(stored, key string) bool {
	if stored == key {
		return true
	}
	if _, scoped := unscoped(stored); scoped {
		return false
	}
	raw, scoped := unscoped(key)
	return scoped && stored == raw
}
