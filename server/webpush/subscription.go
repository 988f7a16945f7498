package webpush

import (
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// maxEndpoint is the size limit of the address of a subscription in bytes.
const maxEndpoint = 2048

// ErrSubscription is returned when a subscription is invalid: its address is not https, or one of
// its keys is invalid.
var ErrSubscription = errors.New("webpush: the subscription is not valid")

// Subscription is the result of PushManager.subscribe in a browser: the address at its push
// service, and the keys for encrypted payloads. The keys are in base64url.
type Subscription struct {
	Endpoint string `json:"endpoint"`
	P256DH   string `json:"p256dh"`
	Auth     string `json:"auth"`
}

// Check returns an error that wraps ErrSubscription if the subscription is invalid. It does not
// check whether its address may be called: the sender has to.
func (s Subscription) Check() error {
	if _, err := s.audience(); err != nil {
		return err
	}
	_, _, err := s.keys()
	return err
}

// audience returns the origin of the push service.
func (s Subscription) audience() (string, error) {
	u, err := url.Parse(s.Endpoint)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" || len(s.Endpoint) > maxEndpoint {
		return "", fmt.Errorf("%w: its address is not https", ErrSubscription)
	}
	return "https://" + strings.ToLower(u.Host), nil
}

// keys returns the browser's public key and its authentication secret.
func (s Subscription) keys() (*ecdh.PublicKey, []byte, error) {
	public, err := decode(s.P256DH, publicSize)
	if err != nil {
		return nil, nil, err
	}
	browser, err := ecdh.P256().NewPublicKey(public)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: p256dh is not a point of the curve", ErrSubscription)
	}
	auth, err := decode(s.Auth, authSize)
	return browser, auth, err
}

// decode decodes base64url, with or without padding, of a known size.
func decode(text string, size int) ([]byte, error) {
	if len(text) > 4*size {
		return nil, fmt.Errorf("%w: a key is too long", ErrSubscription)
	}
	data, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil || len(data) != size {
		return nil, fmt.Errorf("%w: a key does not have %d bytes", ErrSubscription, size)
	}
	return data, nil
}
