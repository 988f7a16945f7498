package remote

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFlags_Connect checks where the token comes from: the address, PARLEY_TOKEN, or the data directory of a server on this machine
// if --server names that server. Without a token the error names the server and the variable.
func TestFlags_Connect(t *testing.T) {
	data := t.TempDir()
	const own = "http://127.0.0.1:7717"
	if err := os.WriteFile(filepath.Join(data, addressName), []byte(own+"/#token=mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ server, env, err string }{
		{server: ""},
		{server: own},
		{server: own + "/"},
		{server: own, env: "other"},
		{server: "http://127.0.0.1:7718/#token=given"},
		{server: "http://127.0.0.1:7718", env: "other"},
		{server: "http://127.0.0.1:7718", err: "no token for http://127.0.0.1:7718: set PARLEY_TOKEN"},
		{server: "http://127.0.0.1:77", err: "no token for http://127.0.0.1:77: set PARLEY_TOKEN"},
	} {
		t.Setenv("PARLEY_TOKEN", tt.env)
		c, err := (&Flags{Server: tt.server, Data: data}).Connect()
		switch {
		case tt.err != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.err)):
			t.Errorf("--server %q, PARLEY_TOKEN=%q: %v, want %s", tt.server, tt.env, err, tt.err)
		case tt.err == "" && err != nil:
			t.Errorf("--server %q, PARLEY_TOKEN=%q: %v", tt.server, tt.env, err)
		case tt.err == "" && tt.server != "" && !strings.HasPrefix(tt.server, c.URL()):
			t.Errorf("--server %q connects to %s", tt.server, c.URL())
		}
	}
}
