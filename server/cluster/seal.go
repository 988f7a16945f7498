package cluster

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
)

// ErrSealed reports a value that was not sealed with the key of this cluster, or for another place.
var ErrSealed = errors.New("cluster: a value was not sealed with the secret key of this server")

// sealer encrypts values with AES-256-GCM. The name of the place of a value is authenticated with it, so that a value cannot be moved.
type sealer struct{ aead cipher.AEAD }

// sealer returns the sealer for a purpose, which has a key derived from that of the cluster.
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

// seal encrypts a value for a place.
func (s sealer) seal(place string, value []byte) []byte {
	return s.aead.Seal(nil, nil, value, []byte(place))
}

// open decrypts the value of a place.
func (s sealer) open(place string, sealed []byte) ([]byte, error) {
	value, err := s.aead.Open(nil, nil, sealed, []byte(place))
	if err != nil {
		return nil, ErrSealed
	}
	return value, nil
}
