package clipath

import (
	"slices"
	"testing"
)

func TestBinaryName(t *testing.T) {
	const (
		glibc = "/lib64/ld-linux-x86-64.so.2"
		musl  = "/lib/ld-musl-x86_64.so.1"
	)
	tests := []struct {
		goos, goarch string
		files        []string
		want         string // between the package name's stem and the end; empty is an error
	}{
		{"linux", "amd64", []string{glibc}, "linux-x64/claude"},
		{"linux", "amd64", []string{musl}, "linux-x64-musl/claude"},
		{"linux", "amd64", []string{glibc, musl}, "linux-x64/claude"},
		{"linux", "amd64", nil, "linux-x64/claude"},
		{"linux", "arm64", []string{"/lib/ld-musl-aarch64.so.1"}, "linux-arm64-musl/claude"},
		{"linux", "arm64", []string{"/lib/ld-linux-aarch64.so.1"}, "linux-arm64/claude"},
		{"darwin", "arm64", nil, "darwin-arm64/claude"},
		{"darwin", "amd64", nil, "darwin-x64/claude"},
		{"windows", "amd64", nil, "win32-x64/claude.exe"},
		{"windows", "arm64", nil, "win32-arm64/claude.exe"},
		{"linux", "riscv64", nil, ""},
		{"plan9", "amd64", nil, ""},
	}
	for _, tt := range tests {
		got, err := binaryName(tt.goos, tt.goarch, func(path string) bool { return slices.Contains(tt.files, path) })
		if tt.want == "" {
			if err == nil {
				t.Errorf("binaryName(%s, %s) = %q, want an error", tt.goos, tt.goarch, got)
			}
			continue
		}
		want := "node_modules/@anthropic-ai/claude-agent-sdk-" + tt.want
		if err != nil || got != want {
			t.Errorf("binaryName(%s, %s) with %v = %q, %v, want %q", tt.goos, tt.goarch, tt.files, got, err, want)
		}
	}
}
