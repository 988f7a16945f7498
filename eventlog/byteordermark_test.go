package eventlog

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// TestByteOrderMark reads certificate authorities from a file with a byte order mark at its start: none is left out.
func TestByteOrderMark(t *testing.T) {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	for text, ok := range map[string]bool{"\ufeff" + string(ca): true, string(ca): true, "\ufeff": false} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if pool, err := readCAs(file); (err == nil) != ok || ok && pool.Equal(nil) {
			t.Errorf("the authorities of %d bytes: %v, want success %v", len(text), err, ok)
		}
	}
}
