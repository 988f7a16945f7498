package agents

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/internal/supervise"
	"github.com/seed7221b0f9/parley/internal/textfile"
)

// Known is an agent of the Agent Client Protocol that has a name.
type Known struct {
	Name    string            `json:"name"`
	Title   string            `json:"title,omitempty"`
	Command []string          `json:"command"`
	Env     map[string]string `json:"env,omitempty"`    // added to the environment
	Login   []string          `json:"login,omitempty"`  // a command for a terminal
	Native  string            `json:"native,omitempty"` // the name under which parley runs the same agent without an adapter
	Added   bool              `json:"-"`                // added by the user
}

//go:embed agents.json
var builtIn []byte

// maxRegistry limits the size of the user's file in bytes.
const maxRegistry = 1 << 20

// validName matches valid names: a name is one word on the command line.
var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// RegistryFile returns the path of the file with the user's agents.
func RegistryFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "parley", "agents.json"), err
}

// Registry returns the named agents: the user's first, then the built-in agents with names that the user has not
// redefined.
func Registry() ([]Known, error) {
	var list, more []Known
	if err := json.Unmarshal(builtIn, &more); err != nil {
		return nil, err
	}
	list, err := added()
	for _, k := range more {
		if !slices.ContainsFunc(list, func(o Known) bool { return o.Name == k.Name }) {
			list = append(list, k)
		}
	}
	return list, err
}

// added returns the agents in the user's registry file.
func added() (list []Known, err error) {
	file, err := RegistryFile()
	if err != nil {
		return nil, nil // without a home directory there is no file
	}
	text, err := regularfile.Read(file, maxRegistry)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(textfile.Trim(text), &list)
	}
	for i := range list {
		list[i].Added = true
		if err == nil {
			err = list[i].check()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return list, nil
}

func (k *Known) check() error {
	switch {
	case !validName.MatchString(k.Name):
		return fmt.Errorf("%q is not a name: small letters, digits, dots and dashes", k.Name)
	case slices.Contains([]string{Claude, Codex, Sim, "acp", "replay"}, k.Name):
		return fmt.Errorf("%s is the name of another agent", k.Name)
	case len(k.Command) == 0 || k.Command[0] == "":
		return fmt.Errorf("%s has no command", k.Name)
	}
	return nil
}

// Add adds an agent to the user's agents, or replaces the one with its name.
func Add(k Known) error {
	if err := k.check(); err != nil {
		return term.Usagef("%v", err)
	}
	list, err := added()
	if err != nil {
		return err
	}
	list = append(slices.DeleteFunc(list, func(o Known) bool { return o.Name == k.Name }), k)
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	file, err := RegistryFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	next := file + ".new" // so that a partial file is never read
	if err := os.WriteFile(next, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(next, file)
}

// Path returns the path of the agent's program, or "" if it is not installed.
func (k *Known) Path() string {
	path, err := exec.LookPath(k.Command[0])
	if err != nil {
		return ""
	}
	return path
}

// Find returns the agent with a name. It returns false if the name is unknown.
func Find(name string) (Known, bool, error) {
	list, err := Registry()
	i := slices.IndexFunc(list, func(k Known) bool { return k.Name == name })
	if err != nil || i < 0 {
		return Known{}, false, err
	}
	return list[i], true, nil
}

// Provider returns a provider of the agent. Processes that the agent leaves in the background are ended unless keep is
// set.
func (k *Known) Provider(keep bool, logger *slog.Logger) *acpagent.Provider {
	p := &acpagent.Provider{
		Command: k.Command, As: k.Name, Version: claude.Version, Logger: logger, Supervisor: supervise.Self(), KeepChildren: keep, LoginCommand: k.Login,
	}
	for name, value := range k.Env {
		p.Env = append(p.Env, name+"="+value)
	}
	return p
}
