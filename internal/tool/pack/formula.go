package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"text/template"
)

// formulaText installs the archive of a system with Homebrew.
var formulaText = template.Must(template.New("").Parse(`class Parley < Formula
  desc "{{.Summary}}"
  homepage "{{.Homepage}}"
  version "{{.Version}}"
  license "Apache-2.0"
{{range .Systems}}
  on_{{.Name}} do
{{- range .Archives}}
    on_{{.Processor}} do
      url "{{$.Homepage}}/releases/download/v{{$.Version}}/{{.File}}"
      sha256 "{{.Sum}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "parley"
    man1.install Dir["man/*.1"]
    man7.install Dir["man/*.7"]
    bash_completion.install "completions/parley.bash" => "parley"
    zsh_completion.install "completions/_parley"
    fish_completion.install "completions/parley.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/parley version")
  end
end
`))

type formulaSystem struct {
	Name     string
	Archives []formulaArchive
}

type formulaArchive struct{ Processor, File, Sum string }

// formula returns the formula for the archives, or nil if there are no archives.
func (r *release) formula(made map[string][]byte) []byte {
	data := struct {
		Summary, Homepage, Version string
		Systems                    []formulaSystem
	}{Summary: "Session server, web page and terminal for coding agents", Homepage: homepage, Version: r.version}
	for _, system := range [][2]string{{"macos", "darwin"}, {"linux", "linux"}} {
		s := formulaSystem{Name: system[0]}
		for _, processor := range [][2]string{{"arm", "arm64"}, {"intel", "amd64"}} {
			name := fmt.Sprintf("parley_%s_%s_%s.tar.gz", r.version, system[1], processor[1])
			if body, ok := made[name]; ok {
				s.Archives = append(s.Archives, formulaArchive{processor[0], name, fmt.Sprintf("%x", sha256.Sum256(body))})
			}
		}
		if s.Archives != nil {
			data.Systems = append(data.Systems, s)
		}
	}
	if data.Systems == nil {
		return nil
	}
	var b bytes.Buffer
	_ = formulaText.Execute(&b, data) // a buffer takes everything, and the template fits the data
	return b.Bytes()
}
