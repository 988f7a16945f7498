package session

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// ScopedKey returns an idempotency key that is unique to the caller and the method, because a session stores the keys
// of all callers and methods.
func ScopedKey(account, method, key string) string {
	sum := sha256.Sum256([]byte(account + "\x00" + method))
	return hex.EncodeToString(sum[:]) + ":" + key
}

// unscoped returns the key that the client sent, and reports whether key is scoped.
func unscoped(key string) (raw string, ok bool) {
	scope, raw, ok := strings.Cut(key, ":")
	return raw, ok && len(scope) == hex.EncodedLen(sha256.Size)
}

// sameKey reports whether a stored key matches the key of a call. Keys from earlier versions have no scope and match
// every caller.
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
