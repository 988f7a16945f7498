package redact

import "strings"

// Secrets returns the values of variables, each NAME=value, with names that indicate a
// secret.
func Secrets(env []string) (values []string) {
	for _, kv := range env {
		if name, value, _ := strings.Cut(kv, "="); secretName(name) && len(value) >= minSecret {
			values = append(values, value)
		}
	}
	return values
}
