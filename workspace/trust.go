package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// Programs lists the programs that a repository makes git run: its hooks, and the settings that name
// programs, in its own files, in included files and in submodules.
type Programs struct {
	// Dir is the examined directory.
	Dir string
	// Hash identifies the settings and the content of the hooks. It does not cover other files,
	// such as a script in a setting. It is empty if there are no programs, or too many to list.
	Hash string
	// Settings are the settings, and Hooks the paths of the hooks.
	Settings []Setting
	Hooks    []string
	// Trusted reports whether git runs them: [Options.Trust] returned true.
	Trusted bool
}

// Setting is a value of git's configuration. Its value may be a secret.
type Setting struct{ Key, Value string }

// programs are the settings that make git, or Git LFS, run a program, with a value that prevents
// it, or the program that git runs by default. A star matches any subsection.
var programs = map[string]string{
	"core.hookspath": os.DevNull, "core.sshcommand": "", "core.gitproxy": "", "core.askpass": "", "core.alternaterefscommand": "",
	"filter.*.clean": "", "filter.*.smudge": "", "filter.*.process": "", "filter.*.required": "false",
	"diff.external": "", "diff.*.command": "", "diff.*.textconv": "", "merge.*.driver": "false",
	"gpg.program": "gpg", "gpg.openpgp.program": "gpg", "gpg.x509.program": "gpgsm", "gpg.ssh.program": "ssh-keygen", "gpg.ssh.defaultkeycommand": "",
	"credential.helper": "", "credential.*.helper": "", "trailer.*.command": "", "trailer.*.cmd": "",
	"remote.*.uploadpack": "git-upload-pack", "remote.*.receivepack": "git-receive-pack", "remote.*.vcs": "",
	"uploadpack.packobjectshook": "", "gc.recentobjectshook": "", "hook.*.command": "true",
	"lfs.extension.*.clean": "", "lfs.extension.*.smudge": "", "lfs.customtransfer.*.path": "", "lfs.standalonetransferagent": "", "lfs.*.standalonetransferagent": "",
}

// setting is one value of git's configuration. Git writes section and name of a key in lower case
// and leaves the subsection as it is.
type setting struct {
	scope, key, value string
	file              string // the file with the setting, as git names it
}

// own reports whether the user or the system has the setting, so that an agent in the repository
// cannot have written it.
func (s setting) own() bool { return s.scope == "global" || s.scope == "system" }

// harmless returns the value that disables the program of a key. It returns false for a key without
// a program.
func harmless(key string) (string, bool) {
	if first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.'); first < last {
		if value, ok := programs[key]; ok {
			return value, true
		}
		for _, prefix := range []string{"lfs.extension", "lfs.customtransfer"} {
			if strings.HasPrefix(strings.ToLower(key), prefix+".") {
				value, ok := programs[prefix+".*"+key[last:]]
				return value, ok
			}
		}
		key = key[:first] + ".*" + key[last:]
	}
	value, ok := programs[key]
	return value, ok
}

// override returns settings that replace each program of the repository by the user's or the
// system's, or disable it.
func override(all []setting) []setting {
	user := map[string][]string{}
	for _, s := range all {
		if s.own() {
			user[s.key] = append(user[s.key], s.value)
		}
	}
	var over []setting
	done := map[string]bool{}
	for _, s := range all {
		value, ok := harmless(s.key)
		if !ok || s.own() || done[s.key] {
			continue
		}
		done[s.key] = true
		mine := user[s.key]
		switch {
		case strings.HasSuffix(s.key, ".helper"): // a list, which an empty value resets
			over = append(over, setting{key: s.key})
			for _, v := range mine {
				over = append(over, setting{key: s.key, value: v})
			}
		case len(mine) > 0:
			over = append(over, setting{key: s.key, value: mine[len(mine)-1]})
		default:
			over = append(over, setting{key: s.key, value: value})
		}
	}
	return over
}

// blockedFilters returns the names of the filters with programs only in the repository.
func blockedFilters(all []setting) map[string]bool {
	blocked, own := map[string]bool{}, map[string]bool{}
	for _, s := range all {
		name, ok := strings.CutPrefix(s.key, "filter.")
		at := strings.LastIndexByte(name, '.')
		if !ok || at < 0 || s.value == "" || name[at:] == ".required" {
			continue
		}
		if s.own() {
			own[name[:at]] = true
		} else {
			blocked[name[:at]] = true
		}
	}
	for name := range own {
		delete(blocked, name)
	}
	return blocked
}

// environment returns settings as variables: -c accepts no key with an equals sign.
func environment(settings []setting) []string {
	env := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(settings))}
	for i, s := range settings {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+s.key, "GIT_CONFIG_VALUE_"+n+"="+s.value)
	}
	return env
}

// guard keeps the programs of a repository from being run by one operation. It applies to the
// configuration at the time of the call.
type guard struct {
	Programs
	env     []string
	blocked map[string]bool // names of filters
}

// guard reads the configuration of a working tree and decides which of its programs git runs.
func (m *Manager) guard(ctx context.Context, dir string) (*guard, error) {
	all, hooks, err := m.settings(ctx, dir)
	if err != nil {
		return nil, err
	}
	g := &guard{Programs: identify(all, hooks)}
	g.Dir = dir
	g.Trusted = g.Hash != "" && m.opts.Trust != nil && m.opts.Trust(g.Programs)
	if g.Trusted {
		return g, nil
	}
	over := override(all)
	over = append(over, setting{key: "core.hookspath", value: userHooks(all)})
	g.env, g.blocked = environment(over), blockedFilters(all)
	return g, nil
}

// userHooks returns the hooks directory that the user or the system has set. A relative one is
// below the working tree, where an agent can write, and is ignored.
func userHooks(all []setting) string {
	dir := os.DevNull
	for _, s := range all {
		if s.own() && s.key == "core.hookspath" && filepath.IsAbs(s.value) {
			dir = s.value
		}
	}
	return dir
}

// maxSubmodules limits the submodules, including nested ones, with settings that are read.
const maxSubmodules = 1000

// settings returns the settings of git in a working tree and its submodules, and the directories of
// their hooks.
func (m *Manager) settings(ctx context.Context, dir string) (all []setting, hooks []string, err error) {
	open := []string{dir}
	for n := 0; len(open) > 0; n++ {
		if n > maxSubmodules {
			return nil, nil, fmt.Errorf("%w: %s has more than %d submodules", ErrUnsafe, dir, maxSubmodules)
		}
		at := open[0]
		open = open[1:]
		out, err := m.git.run(ctx, command{dir: at, args: []string{"config", "--list", "-z", "--show-scope", "--show-origin", "--includes"}})
		if err != nil {
			return nil, nil, err
		}
		top, err := m.git.line(ctx, at, "rev-parse", "--show-toplevel")
		if err != nil {
			return nil, nil, err
		}
		if err := checkTop(at, top); err != nil {
			return nil, nil, err
		}
		here := parseSettings(string(out))
		more, err := m.included(ctx, here, at, top)
		if err != nil {
			return nil, nil, err
		}
		all = append(append(all, here...), more...)
		path, err := m.git.hooksPath(ctx, at)
		if err != nil {
			return nil, nil, err
		}
		hooks = append(hooks, path)
		below, err := m.submodules(ctx, top)
		if err != nil {
			return nil, nil, err
		}
		open = append(open, below...)
	}
	return all, hooks, nil
}

// parseSettings reads the output of git config --list -z --show-scope --show-origin without the settings of the
// command itself.
func parseSettings(out string) []setting {
	var all []setting
	fields := strings.Split(out, "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		key, value, _ := strings.Cut(fields[i+2], "\n")
		if fields[i] != "command" {
			all = append(all, setting{scope: fields[i], key: key, value: value, file: strings.TrimPrefix(fields[i+1], "file:")})
		}
	}
	return all
}

// hooksPath returns the directory of the hooks that git runs in a working tree.
func (g *git) hooksPath(ctx context.Context, dir string) (string, error) {
	out, err := g.run(ctx, command{dir: dir, look: true, args: []string{"rev-parse", "--git-path", "hooks"}})
	path := strings.TrimSuffix(string(out), "\n")
	if err == nil && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return path, err
}

// submodules returns the submodules of a working tree that are checked out.
func (m *Manager) submodules(ctx context.Context, top string) ([]string, error) {
	out, err := m.git.run(ctx, command{dir: top, args: []string{"ls-files", "-z", "--stage"}})
	if err != nil {
		return nil, err
	}
	var found []string
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		head, path, ok := bytes.Cut(entry, []byte{'\t'})
		if !ok || !bytes.HasPrefix(head, []byte(modeRepo+" ")) {
			continue
		}
		sub := filepath.Join(top, filepath.FromSlash(string(path)))
		if _, err := os.Lstat(filepath.Join(sub, ".git")); err == nil {
			found = append(found, sub)
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// Limits of the hashed data. A repository that exceeds them is never trusted.
const (
	maxHooks    = 100
	maxHookSize = 1 << 20
)

// identify lists and hashes the programs in the settings and in the hook directories.
func identify(all []setting, dirs []string) Programs {
	var p Programs
	sum := sha256.New()
	for _, s := range all {
		if _, ok := harmless(s.key); ok && !s.own() {
			p.Settings = append(p.Settings, Setting{s.key, s.value})
			fmt.Fprintf(sum, "%q=%q\n", s.key, s.value)
		}
	}
	for _, dir := range dirs {
		hooks, err := hashHooks(sum, dir)
		p.Hooks = append(p.Hooks, hooks...)
		if err != nil || len(p.Hooks) > maxHooks {
			return p
		}
	}
	if len(p.Settings)+len(p.Hooks) > 0 {
		p.Hash = hex.EncodeToString(sum.Sum(nil))
	}
	return p
}

// hashHooks adds the executable files of a directory to a hash and returns their paths.
func hashHooks(sum hash.Hash, dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil // git finds no hooks there either
	}
	var hooks []string
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if strings.HasSuffix(path, ".sample") {
			continue
		}
		info, err := os.Stat(path)
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			continue
		}
		hooks = append(hooks, path)
		if len(hooks) > maxHooks {
			return hooks, errors.New("too many")
		}
		fmt.Fprintf(sum, "hook %q %d\n", entry.Name(), info.Size())
		if err := hashFile(sum, path); err != nil {
			return hooks, err
		}
	}
	return hooks, nil
}

func hashFile(sum hash.Hash, path string) error {
	f, err := regularfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if n, err := io.CopyN(sum, f, maxHookSize+1); err == nil {
		return fmt.Errorf("%s has more than %d bytes", path, n)
	} else if err != io.EOF {
		return err
	}
	return nil
}

// Programs returns the programs that the repository of the tree makes git run.
func (t *Tree) Programs(ctx context.Context) (Programs, error) {
	g, err := t.m.guard(ctx, t.dir)
	if err != nil {
		return Programs{}, err
	}
	return g.Programs, nil
}

// filtered returns those paths that need a filter that is not run.
func (t *Tree) filtered(ctx context.Context, g *guard, paths []string) (map[string]bool, error) {
	if len(g.blocked) == 0 || len(paths) == 0 {
		return nil, nil
	}
	out, err := t.m.git.run(ctx, command{dir: t.dir, args: []string{"check-attr", "-z", "--stdin", "filter"}, stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00")})
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		if g.blocked[fields[i+2]] {
			found[fields[i]] = true
		}
	}
	return found, nil
}
