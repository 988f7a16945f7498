package webpush

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// TokenAge is the lifetime of the token of a request. RFC 8292 allows 24 hours at most.
const TokenAge = 12 * time.Hour

// ErrKey is returned when a stored key is invalid. A new key would end all subscriptions, so the
// caller must decide what to do.
var ErrKey = errors.New("webpush: the key is not valid")

// Key is the key pair that identifies a server (VAPID). Browsers get its public part when they
// subscribe; a server with another key cannot send to them.
type Key struct {
	private *ecdsa.PrivateKey
	public  string
}

// NewKey creates a key pair. It must be stored: all subscriptions are bound to it, and end with it.
func NewKey() (*Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return newKey(private)
}

// ParseKey parses the result of Private. The error wraps ErrKey.
func ParseKey(text string) (*Key, error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%w: it is not base64url", ErrKey)
	}
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), data)
	if err != nil {
		return nil, fmt.Errorf("%w: it is not a number of the curve", ErrKey)
	}
	return newKey(private)
}

func newKey(private *ecdsa.PrivateKey) (*Key, error) {
	point, err := private.PublicKey.Bytes()
	if err != nil {
		return nil, err
	}
	return &Key{private, base64.RawURLEncoding.EncodeToString(point)}, nil
}

// Public returns the public key for browsers: the uncompressed point in base64url.
func (k *Key) Public() string { return k.public }

// Private returns the private key in base64url. It must be stored where only the server can read it.
func (k *Key) Private() (string, error) {
	data, err := k.private.Bytes()
	return base64.RawURLEncoding.EncodeToString(data), err
}

// authorization returns the value of the header Authorization for an origin. The subject is the
// contact address of the sender: mailto: or https:; it may be empty.
func (k *Key) authorization(audience, subject string, now time.Time) (string, error) {
	claims, err := json.Marshal(struct {
		Audience string `json:"aud"`
		Expires  int64  `json:"exp"`
		Subject  string `json:"sub,omitempty"`
	}{audience, now.Add(TokenAge).Unix(), subject})
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, k.private, sum[:])
	if err != nil {
		return "", err
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return "vapid t=" + text + "." + base64.RawURLEncoding.EncodeToString(signature) + ", k=" + k.public, nil
}
