package server

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestState_damaged damages the files of tokens and webhooks: the server starts, no token of a damaged file is valid, the file is moved
// aside, and the log and /readyz report it until it is deleted. A deleted file is like that of a new server.
func TestState_damaged(t *testing.T) {
	short.SkipQuick(t, "restarts a server for each damage")
	harms := map[string]func(data []byte) []byte{
		"truncated": func(data []byte) []byte { return data[:len(data)-3] },
		"emptied":   func([]byte) []byte { return []byte{} },
		"garbage":   func([]byte) []byte { return bytes.Repeat([]byte{0xa5, 0}, 100) },
		"other":     func([]byte) []byte { return []byte(`[{"id":"x"},7]`) },
		"a digit":   changedHex,
		"deleted":   nil,
	}
	for _, file := range []string{tokensName, webhooksName} {
		for harm, change := range harms {
			t.Run(file+" "+harm, func(t *testing.T) { checkDamagedState(t, file, change) })
		}
	}
}

func checkDamagedState(t *testing.T, file string, change func([]byte) []byte) {
	h := newHarness(t)
	var made api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Role: "operator"}, &made)
	h.call("webhooks.set", api.WebhooksSetParams{Webhook: api.Webhook{URL: "https://example.com/hook"}}, nil)
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(h.opts.Dir, file)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if change == nil {
		err = os.Remove(name)
	} else {
		err = os.WriteFile(name, change(data), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	h.start()
	err = h.client(made.Token).Call(h.ctx(), "session.list", struct{}{}, nil)
	if valid := err == nil; valid != (file == webhooksName) {
		t.Errorf("the token that was made before: %v", err)
	}
	aside, err := DamagedFiles(h.opts.Dir)
	if err != nil || len(aside) > 1 || (len(aside) == 1) != (change != nil) {
		t.Errorf("put aside: %q, %v", aside, err)
	}
	for where, report := range map[string]string{"readyz": readyz(h), "the log": h.logs.String()} {
		if strings.Contains(report, "put aside") != (change != nil) {
			t.Errorf("%s reports it: %v, want %v", where, change == nil, change != nil)
		}
	}
	h.call("tokens.create", api.TokensCreateParams{Role: "operator"}, &made) // the file can be written again
	for _, name := range aside {
		if err := os.Remove(filepath.Join(h.opts.Dir, name)); err != nil {
			t.Error(err)
		}
	}
	if got := readyz(h); got != "ok\n" {
		t.Errorf("after the copy was deleted readyz is %q", got)
	}
}

// changedHex changes the last digit of a hash or a secret, so that the file stays well-formed.
func changedHex(data []byte) []byte {
	data = bytes.Clone(data)
	at := bytes.LastIndex(data, []byte(`"hash":"`)) + len(`"hash":"`)
	if at < len(`"hash":"`) {
		at = bytes.LastIndex(data, []byte(`example.com/`)) + len(`example.com/`)
	}
	data[at] ^= 1
	return data
}
