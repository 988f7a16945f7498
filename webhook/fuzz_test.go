package webhook

import (
	"strings"
	"testing"
	"time"
)

// FuzzVerify checks arbitrary signatures. Only the signature of [Sign] for the same body, secret and time is valid.
func FuzzVerify(f *testing.F) {
	now := time.Unix(1_700_000_000, 0)
	good := Sign("secret", now, []byte("body"))
	f.Add("secret", good, []byte("body"))
	f.Add("secret", good+",v1=00", []byte("body"))
	f.Add("", good, []byte("body"))
	f.Add("secret", "t=9223372036854775807,v1=", []byte("body"))
	f.Add("secret", "t=-9223372036854775808,v1=zz", []byte{})
	f.Fuzz(func(t *testing.T, secret, signature string, body []byte) {
		err := Verify(secret, signature, body, now, time.Minute)
		if err == nil {
			valid := false
			for age := -time.Minute; age <= time.Minute; age += time.Second {
				_, sum, _ := strings.Cut(Sign(secret, now.Add(age), body), ",v1=")
				valid = valid || strings.Contains(strings.ToLower(signature), sum)
			}
			if !valid || secret == "" {
				t.Errorf("%q is valid for %q with the secret %q", signature, body, secret)
			}
		}
		if secret != "" {
			if err := Verify(secret, Sign(secret, now, body), body, now, time.Minute); err != nil {
				t.Errorf("the signature of %q with %q: %v", body, secret, err)
			}
		}
	})
}
