// Package webpushtest simulates a browser and its push service in tests of Web Push: it creates
// subscriptions, checks the signature of requests, and decrypts them.
package webpushtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/server/webpush"
)

// Browser is a browser that has subscribed at an address. It derives its keys by the steps of the
// standards and shares no code with package webpush.
type Browser struct {
	endpoint string
	private  *ecdh.PrivateKey
	auth     []byte
}

// NewBrowser returns a browser with new keys and a push service at the address.
func NewBrowser(endpoint string) (*Browser, error) {
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	auth := make([]byte, 16)
	_, _ = rand.Read(auth) // it never fails
	return &Browser{endpoint, private, auth}, nil
}

// Subscription returns the subscription that the browser's page sends to its server.
func (b *Browser) Subscription() webpush.Subscription {
	return webpush.Subscription{
		Endpoint: b.endpoint,
		P256DH:   base64.RawURLEncoding.EncodeToString(b.private.PublicKey().Bytes()),
		Auth:     base64.RawURLEncoding.EncodeToString(b.auth),
	}
}

// Open checks and decrypts a request with its body, like the push service and the browser together:
// the server's public key, the audience, the time, and the payload.
func (b *Browser) Open(r *http.Request, body []byte, serverKey, audience string, now time.Time) ([]byte, error) {
	if err := verify(r.Header.Get("Authorization"), serverKey, audience, now); err != nil {
		return nil, err
	}
	if r.Method != http.MethodPost || r.Header.Get("Content-Encoding") != "aes128gcm" || r.Header.Get("TTL") == "" {
		return nil, fmt.Errorf("webpushtest: %s with the header %v", r.Method, r.Header)
	}
	return b.decrypt(body)
}

// verify checks a VAPID token.
func verify(header, serverKey, audience string, now time.Time) error {
	parameters, ok := strings.CutPrefix(header, "vapid ")
	token, key, ok2 := strings.Cut(strings.TrimPrefix(parameters, "t="), ", k=")
	parts := strings.Split(token, ".")
	if !ok || !ok2 || len(parts) != 3 || key != serverKey {
		return fmt.Errorf("webpushtest: the authorization %q is not of the server", header)
	}
	claims, err1 := base64.RawURLEncoding.DecodeString(parts[1])
	signature, err2 := base64.RawURLEncoding.DecodeString(parts[2])
	point, err3 := base64.RawURLEncoding.DecodeString(key)
	if err := errors.Join(err1, err2, err3); err != nil || len(signature) != 64 {
		return fmt.Errorf("webpushtest: the token cannot be read: %w", err)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return errors.New("webpushtest: the token is not signed with the key")
	}
	var c struct {
		Audience string `json:"aud"`
		Expires  int64  `json:"exp"`
	}
	if err := json.Unmarshal(claims, &c); err != nil {
		return err
	}
	if left := time.Unix(c.Expires, 0).Sub(now); c.Audience != audience || left <= 0 || left > 24*time.Hour {
		return fmt.Errorf("webpushtest: the token is for %s and %v", c.Audience, left)
	}
	return nil
}

// decrypt decrypts a body of one record.
func (b *Browser) decrypt(body []byte) ([]byte, error) {
	const header = 16 + 4 + 1 + 65
	if len(body) < header+17 || len(body) > 4096 || body[20] != 65 || binary.BigEndian.Uint32(body[16:]) < uint32(len(body)-header) {
		return nil, fmt.Errorf("webpushtest: a body of %d bytes is not one record", len(body))
	}
	salt, point := body[:16], body[21:header]
	sender, err := ecdh.P256().NewPublicKey(point)
	if err != nil {
		return nil, err
	}
	shared, err := b.private.ECDH(sender)
	if err != nil {
		return nil, err
	}
	prk := mac(b.auth, shared)
	secret := mac(prk, []byte("WebPush: info\x00"), b.private.PublicKey().Bytes(), point, []byte{1})
	prk = mac(salt, secret)
	key := mac(prk, []byte("Content-Encoding: aes128gcm\x00\x01"))[:16]
	nonce := mac(prk, []byte("Content-Encoding: nonce\x00\x01"))[:12]
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, nonce, body[header:], nil)
	if err != nil {
		return nil, err
	}
	text := strings.TrimRight(string(plain), "\x00")
	payload, ok := strings.CutSuffix(text, "\x02")
	if !ok {
		return nil, errors.New("webpushtest: the record is not the last one")
	}
	return []byte(payload), nil
}

func mac(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}
