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

// MaxPayload is the size limit of a payload in bytes. Push services accept bodies of 4096 bytes,
// which include the header, the padding and the tag.
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

// ErrPayload is returned when a payload exceeds MaxPayload. A message should report the event and
// its location, and not contain the text.
var ErrPayload = errors.New("webpush: the payload is too long")

// Encrypt encrypts a payload for a subscription, with the content coding aes128gcm. Each call uses
// a new key and salt, so that no two results are equal.
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

// encrypt is Encrypt with given random parts.
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
