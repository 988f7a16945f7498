package claudeagent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/internal/textfile"
)

var _ agent.SettingsKeeper = (*Provider)(nil)

// maxSettings is the size limit of a settings file.
const maxSettings = 4 << 20

// changing serializes the changes to settings files by this process.
var changing sync.Mutex

// behaviors are the kinds of permission rules, the strongest first.
var behaviors = []string{"deny", "ask", "allow"}

// ruleFile is a settings file: a directory, the path below it, and its scope. Paths are resolved inside of
// the directory, so that a link in a project cannot lead out of it.
type ruleFile struct{ dir, name, scope string }

func (p *Provider) ruleFiles(dir string) []ruleFile {
	return []ruleFile{
		{dir, filepath.Join(".claude", "settings.json"), agent.ScopeProject},
		{dir, filepath.Join(".claude", "settings.local.json"), agent.ScopeLocal},
		{p.configDir(), "settings.json", agent.ScopeUser},
	}
}

// Rules returns the permission rules of the settings files that the CLI reads in a project.
func (p *Provider) Rules(dir string) ([]agent.Rule, error) {
	var all []agent.Rule
	for _, f := range p.ruleFiles(dir) {
		root, err := f.read()
		if err != nil {
			return nil, err
		}
		lists, err := root.object("permissions")
		if err != nil {
			return nil, f.fail(err)
		}
		for _, b := range behaviors {
			texts, err := lists.texts(b)
			if err != nil {
				return nil, f.fail(err)
			}
			for _, text := range texts {
				all = append(all, agent.Rule{Text: text, Behavior: b, Scope: f.scope, File: filepath.Join(f.dir, f.name)})
			}
		}
	}
	return all, nil
}

// SetRule adds a rule to the settings file of its scope, or removes it. The rest of the file is
// unchanged.
func (p *Provider) SetRule(dir string, r agent.Rule, keep bool) error {
	i := slices.IndexFunc(p.ruleFiles(dir), func(f ruleFile) bool { return f.scope == r.Scope })
	if i < 0 || !slices.Contains(behaviors, r.Behavior) || r.Text == "" {
		return fmt.Errorf("claudeagent: a rule has a text, a behavior and a scope: %q, %q, %q", r.Text, r.Behavior, r.Scope)
	}
	return p.ruleFiles(dir)[i].change(func(root *members) error {
		lists, err := root.object("permissions")
		if err != nil {
			return err
		}
		texts, err := lists.texts(r.Behavior)
		if err != nil {
			return err
		}
		texts = slices.DeleteFunc(texts, func(t string) bool { return t == r.Text })
		if keep {
			texts = append(texts, r.Text)
		}
		if err := lists.set(r.Behavior, texts); err != nil {
			return err
		}
		return root.set("permissions", lists)
	})
}

// mcpEntry has the members of a server in .mcp.json that can be changed.
type mcpEntry struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

const mcpName = ".mcp.json"

func mcpFile(dir string) ruleFile { return ruleFile{dir, mcpName, agent.ScopeProject} }

// MCPServers returns the servers in a project's .mcp.json, and those in the user's settings of the
// CLI.
func (p *Provider) MCPServers(dir string) ([]agent.MCPConfig, error) {
	all, err := mcpFile(dir).servers()
	if err != nil {
		return nil, err
	}
	// The CLI keeps its own file next to the configuration directory, or inside a configured one.
	for _, f := range []ruleFile{{p.configDir(), ".claude.json", agent.ScopeUser}, {filepath.Dir(p.configDir()), ".claude.json", agent.ScopeUser}} {
		more, err := f.servers()
		if err != nil {
			return nil, err
		}
		if len(more) > 0 {
			return append(all, more...), nil
		}
	}
	return all, nil
}

func (f ruleFile) servers() ([]agent.MCPConfig, error) {
	root, err := f.read()
	if err != nil {
		return nil, err
	}
	list, err := root.object("mcpServers")
	if err != nil {
		return nil, f.fail(err)
	}
	var all []agent.MCPConfig
	for _, m := range list.all {
		var e mcpEntry
		if err := json.Unmarshal(m.value, &e); err != nil {
			return nil, f.fail(fmt.Errorf("server %q: %w", m.name, err))
		}
		if e.Type == "" {
			e.Type = "stdio"
		}
		all = append(all, agent.MCPConfig{Name: m.name, Scope: f.scope, File: filepath.Join(f.dir, f.name), Type: e.Type, Command: e.Command, Args: e.Args, URL: e.URL,
			Env: names(e.Env), Headers: names(e.Headers)})
	}
	return all, nil
}

// names returns a map with the same keys and empty values.
func names(m map[string]string) map[string]string {
	out := maps.Clone(m)
	for name := range out {
		out[name] = ""
	}
	return out
}

// SetMCPServer adds a server to a project's .mcp.json, or replaces it.
func (p *Provider) SetMCPServer(dir string, c agent.MCPConfig) error {
	if c.Scope != agent.ScopeProject || c.Name == "" {
		return errors.New("claudeagent: only servers of a project can be changed, by their name")
	}
	return mcpFile(dir).change(func(root *members) error {
		list, err := root.object("mcpServers")
		if err != nil {
			return err
		}
		var old mcpEntry
		if was, ok := list.get(c.Name); ok {
			if err := json.Unmarshal(was, &old); err != nil {
				return err
			}
		}
		e := mcpEntry{c.Type, c.Command, c.Args, kept(c.Env, old.Env), c.URL, kept(c.Headers, old.Headers)}
		if err := list.set(c.Name, e); err != nil {
			return err
		}
		return root.set("mcpServers", list)
	})
}

// kept returns values, with empty ones replaced by the old values.
func kept(is, was map[string]string) map[string]string {
	out := maps.Clone(is)
	for name, value := range out {
		if value == "" {
			out[name] = was[name]
		}
	}
	return out
}

// RemoveMCPServer removes a server from a project's .mcp.json.
func (p *Provider) RemoveMCPServer(dir, name string) error {
	return mcpFile(dir).change(func(root *members) error {
		list, err := root.object("mcpServers")
		if err != nil {
			return err
		}
		if _, ok := list.get(name); !ok {
			return fmt.Errorf("%w: MCP server %q", agent.ErrNotFound, name)
		}
		list.all = slices.DeleteFunc(list.all, func(m member) bool { return m.name == name })
		return root.set("mcpServers", list)
	})
}

// read returns the members of a file; a missing file has no members.
func (f ruleFile) read() (*members, error) {
	dir, err := os.OpenRoot(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return &members{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return f.readIn(dir)
}

func (f ruleFile) readIn(dir *os.Root) (*members, error) {
	info, err := dir.Stat(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return &members{}, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, f.fail(errors.New("it is not a regular file"))
	}
	file, err := dir.Open(f.name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxSettings+1))
	if err == nil && len(data) > maxSettings {
		err = fmt.Errorf("it has more than %d bytes", maxSettings)
	}
	data = textfile.Trim(data)
	all := &members{}
	if err == nil && len(bytes.TrimSpace(data)) > 0 {
		err = all.UnmarshalJSON(data)
	}
	if err != nil {
		return nil, f.fail(err)
	}
	return all, nil
}

// change replaces a file atomically. It does not replace a file that cannot be read.
func (f ruleFile) change(edit func(*members) error) error {
	changing.Lock()
	defer changing.Unlock()
	dir, err := os.OpenRoot(f.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	all, err := f.readIn(dir)
	if err != nil {
		return err
	}
	if err := edit(all); err != nil {
		return f.fail(err)
	}
	raw, err := all.MarshalJSON()
	if err != nil {
		return err
	}
	var data bytes.Buffer // json.MarshalIndent would escape <, > and & in other members
	if err := json.Indent(&data, raw, "", "  "); err != nil {
		return err
	}
	data.WriteByte('\n')
	mode := f.newMode()
	if info, err := dir.Stat(f.name); err == nil {
		mode = info.Mode().Perm()
	}
	if err := dir.MkdirAll(filepath.Dir(f.name), 0o755); err != nil {
		return err
	}
	fresh := f.name + "." + random.Hex(4)
	if err := dir.WriteFile(fresh, data.Bytes(), mode); err != nil {
		return err
	}
	if err := dir.Rename(fresh, f.name); err != nil {
		return errors.Join(err, dir.Remove(fresh))
	}
	return nil
}

// newMode returns the mode of a new file. Servers can have secrets in their environment and their
// headers.
func (f ruleFile) newMode() fs.FileMode {
	if f.name == mcpName {
		return 0o600
	}
	return 0o644
}

func (f ruleFile) fail(err error) error {
	return fmt.Errorf("claudeagent: %s: %w", filepath.Join(f.dir, f.name), err)
}

// members is a JSON object that keeps the order of its members.
type members struct{ all []member }

type member struct {
	name  string
	value json.RawMessage
}

// UnmarshalJSON reads an object.
func (m *members) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errors.New("it is not a JSON object"), err)
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		one := member{name: t.(string)} // the decoder checks that names are strings
		if err := d.Decode(&one.value); err != nil {
			return err
		}
		m.all = append(m.all, one)
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the object")
	}
	return nil
}

// MarshalJSON writes the object.
func (m *members) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, one := range m.all {
		name, err := json.Marshal(one.name)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, name...), ':'), one.value...)
	}
	return append(b, '}'), nil
}

func (m *members) get(name string) (json.RawMessage, bool) {
	i := slices.IndexFunc(m.all, func(o member) bool { return o.name == name })
	if i < 0 {
		return nil, false
	}
	return m.all[i].value, true
}

// object returns a member that is an object, or an empty object for a missing one.
func (m *members) object(name string) (*members, error) {
	value, ok := m.get(name)
	all := &members{}
	if !ok {
		return all, nil
	}
	if err := all.UnmarshalJSON(value); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}

// texts returns a member that is a list of strings, or nil for a missing one.
func (m *members) texts(name string) ([]string, error) {
	value, ok := m.get(name)
	if !ok {
		return []string{}, nil
	}
	texts := []string{}
	if err := json.Unmarshal(value, &texts); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return texts, nil
}

func (m *members) set(name string, value any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return err
	}
	i := slices.IndexFunc(m.all, func(o member) bool { return o.name == name })
	if i < 0 {
		i = len(m.all)
		m.all = append(m.all, member{name: name})
	}
	m.all[i].value = bytes.TrimSpace(b.Bytes())
	return nil
}
