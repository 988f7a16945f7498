package webpush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// MaxPayload is the number of bytes that a payload may have. Push services take bodies of 4096
// bytes, of which the header, the padding and the tag have their share.
const MaxPayload = 3072

// The sizes of the encoding: of its salt, of a public key, of the authentication secret, of the
// record that is announced, and the multiple to which payloads are padded.
const (
	saltSize   = 16
	publicSize = 65
	authSize   = 16
	recordSize = 4096
	padding    = 128
)

// ErrPayload is returned when a payload is longer than MaxPayload. A message should say what
// happened and where to look, and not carry the text itself.
var ErrPayload = errors.New("webpush: the payload is too long")

// Encrypt encrypts a payload for a subscription, as the content coding aes128gcm. Each call has
// a key and a salt of its own, so that no two results are equal.
func Encrypt(s Subscription, payload []byte) ([]byte, error) {
	if len(payload) > MaxPayload {
		return nil, fmt.Errorf("%w: %d bytes, and %d are the most", ErrPayload, len(payload), MaxPayload)
	}
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // it never fails
	padded := (len(payload)/padding + 1) * padding
	return encrypt(s, own, salt, payload, padded-len(payload)-1)
}

// encrypt is Encrypt with the parts that are chance otherwise.
func encrypt(s Subscription, own *ecdh.PrivateKey, salt, payload []byte, pad int) ([]byte, error) {
	browser, auth, err := s.keys()
	if err != nil {
		return nil, err
	}
	shared, err := own.ECDH(browser)
	if err != nil {
		return nil, err
	}
	public := own.PublicKey().Bytes()
	info := "WebPush: info\x00" + string(browser.Bytes()) + string(public)
	secret, err := hkdf.Key(sha256.New, shared, auth, info, 32)
	if err != nil {
		return nil, err
	}
	seal, nonce, err := sealer(secret, salt)
	if err != nil {
		return nil, err
	}
	// The delimiter 2 marks the last record; there is one.
	plain := append(append(append([]byte{}, payload...), 2), make([]byte, pad)...)
	body := append([]byte{}, salt...)
	body = binary.BigEndian.AppendUint32(body, recordSize)
	body = append(append(body, byte(len(public))), public...)
	return seal.Seal(body, nonce, plain, nil), nil
}

// sealer returns the cipher of a record and its nonce.
func sealer(secret, salt []byte) (cipher.AEAD, []byte, error) {
	key, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, nil, err
	}
	nonce, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, err
	}
	seal, err := cipher.NewGCM(block)
	return seal, nonce, err
}
