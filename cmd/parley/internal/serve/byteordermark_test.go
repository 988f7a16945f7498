package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server"
)

// TestByteOrderMark reads each file that the flags name and that a person writes, with a byte order mark at its start.
func TestByteOrderMark(t *testing.T) {
	dir := t.TempDir()
	marked := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("\ufeff"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cert, key := pair(t)
	f, flags := settings(t, "--config", marked("config", `{"listen":"127.0.0.1:1"}`), "--prices", marked("prices", `{"models":{"m":{"input":3,"output":15}}}`),
		"--tls-cert", marked("cert", cert), "--tls-key", marked("key", key))
	if err := f.Load(flags, func(string) (string, bool) { return "", false }); err != nil || f.listen != "127.0.0.1:1" {
		t.Errorf("--config: %v, address %q", err, f.listen)
	}
	if key, err := readKey(marked("secret", "sk-1\n")); err != nil || key != "sk-1" {
		t.Errorf("the key is %q, %v; want sk-1", key, err)
	}
	var opts server.Options
	if err := f.money(&opts); err != nil {
		t.Errorf("--prices: %v", err)
	} else if cost, ok := opts.Price(agent.Used{Model: "m"}); !ok {
		t.Errorf("the price of a model in the file is %v, %v", cost, ok)
	}
	var l net.ListenConfig
	plain, err := l.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if secured, err := f.secured(plain); err != nil || secured == plain {
		t.Errorf("--tls-cert and --tls-key: %v", err)
	}
}

// pair returns a certificate and its key in PEM.
func pair(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}
