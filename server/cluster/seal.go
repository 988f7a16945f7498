package cluster

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
)

// ErrSealed reports a value that was encrypted with another key or under another name.
var ErrSealed = errors.New("cluster: a value was not sealed with the secret key of this server")

// sealer encrypts values with AES-256-GCM. It authenticates the name of each value too, so that a value cannot be moved
// to another name.
type sealer struct{ aead cipher.AEAD }

// sealer returns a sealer with a key that is derived from the cluster's key for the purpose.
func (c *Cluster) sealer(purpose string) (sealer, error) {
	key, err := hkdf.Key(sha256.New, c.opts.Key, nil, "parley "+purpose, 32)
	if err != nil {
		return sealer{}, fmt.Errorf("cluster: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, fmt.Errorf("cluster: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return sealer{}, fmt.Errorf("cluster: %w", err)
	}
	return sealer{aead}, nil
}

// seal encrypts a value under a name.
func (s sealer) seal(place string, value []byte) []byte {
	return s.aead.Seal(nil, nil, value, []byte(place))
}

// open decrypts a value that was encrypted under a name.
func (s sealer) open(place string, sealed []byte) ([]byte, error) {
	value, err := s.aead.Open(nil, nil, sealed, []byte(place))
	if err != nil {
		return nil, ErrSealed
	}
	return value, nil
}
