package box

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/spawn"
)

// Paths inside the box.
const (
	shell     = "/bin/sh"
	inside    = "/run/parley"
	initPath  = inside + "/init"
	doorsPath = inside + "/doors"
)

// ignoreTerm makes bwrap survive the SIGTERM of its group, so that the process inside can handle
// the signal. Enter restores the default inside.
const ignoreTerm = `trap "" TERM; exec "$0" "$@"`

// system lists the visible part of the system: directories of programs and libraries, and files of
// /etc without secrets.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
	"/etc/alternatives", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/group", "/etc/hosts", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
	"/etc/localtime", "/etc/mime.types", "/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/pki/ca-trust", "/etc/pki/tls/certs",
	"/etc/protocols", "/etc/resolv.conf", "/etc/services", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/terminfo",
}

// Root can change these files of the kernel without any capability, or they report on processes
// outside the box.
var (
	kernelFixed  = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi"}
	kernelHidden = []string{"/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/sched_debug", "/proc/timer_list"}
)

// namespaces are the arguments that separate a box from the system.
func namespaces(n Network) []string {
	args := []string{"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "box",
		"--die-with-parent", "--as-pid-1", "--cap-drop", "ALL"}
	if n.Closed() {
		args = append(args, "--unshare-net")
	}
	return args
}

// mount is one argument of bwrap with its paths. The last path is the one in the box.
type mount []string

// sight describes the files of this machine that a box depends on.
type sight struct {
	links map[string]string // targets of the paths of the system that are symbolic links
	files map[string]bool   // hidden paths that are files, and files of the kernel
}

// command returns the command that runs cmd in the box. The variables of the environment are
// renamed, so that they have no effect on the programs outside.
func (b *Box) command(cmd spawn.Command, seen sight) spawn.Command {
	args := append([]string{"-c", ignoreTerm, b.Program}, namespaces(b.Network)...)
	for _, m := range b.mounts(cmd, seen) {
		args = append(args, m...)
	}
	args = append(args, "--remount-ro", "/", "--chdir", cmd.Dir, "--", initPath, initArgument)
	for i, port := range slices.Sorted(maps.Keys(b.Doors)) {
		args = append(args, strconv.Itoa(port)+"="+filepath.Join(doorsPath, strconv.Itoa(i), filepath.Base(b.Doors[port])))
	}
	args = append(args, "--", cmd.Path)
	out := cmd
	out.Path, out.Dir, out.Args, out.Env = shell, "/", append(args, cmd.Args...), packed(cmd.Env)
	return out
}

// mounts returns the mounts of a box, outer paths before inner ones.
func (b *Box) mounts(cmd spawn.Command, seen sight) []mount {
	list := []mount{{"--proc", "/proc"}, {"--dev", "/dev"}, {"--tmpfs", "/tmp"}, {"--tmpfs", "/var/tmp"}, {"--tmpfs", "/run"}, {"--tmpfs", b.Home}}
	for _, path := range b.Empty {
		list = append(list, mount{"--tmpfs", path})
	}
	for _, path := range kernelFixed {
		list = append(list, mount{"--ro-bind-try", path, path})
	}
	for _, path := range kernelHidden {
		if seen.files[path] {
			list = append(list, mount{"--ro-bind", "/dev/null", path})
		}
	}
	for _, path := range system {
		if target, ok := seen.links[path]; ok {
			list = append(list, mount{"--symlink", target, path})
		} else {
			list = append(list, mount{"--ro-bind-try", path, path})
		}
	}
	shown := slices.Concat([]string{cmd.Dir}, b.Write, b.Read)
	for _, path := range shown[:1+len(b.Write)] {
		list = append(list, mount{"--bind", path, path})
	}
	for _, path := range slices.Concat(b.Read, program(cmd.Path)) {
		list = append(list, mount{"--ro-bind", path, path})
	}
	for _, path := range b.Hide {
		hidden := mount{"--tmpfs", path}
		if seen.files[path] {
			hidden = mount{"--ro-bind", "/dev/null", path}
		}
		if slices.ContainsFunc(shown, func(s string) bool { return within(s, path) }) {
			list = append(list, hidden)
		}
	}
	for _, path := range b.Logins {
		list = append(list, mount{"--bind", path, path})
	}
	for _, path := range cmd.Files {
		list = append(list, mount{"--ro-bind", path, path})
	}
	list = append(list, mount{"--ro-bind", b.Init, initPath})
	for i, port := range slices.Sorted(maps.Keys(b.Doors)) {
		list = append(list, mount{"--ro-bind", filepath.Dir(b.Doors[port]), filepath.Join(doorsPath, strconv.Itoa(i))})
	}
	slices.SortStableFunc(list, func(x, y mount) int { return strings.Compare(x[len(x)-1]+"/", y[len(y)-1]+"/") })
	return list
}

// program returns the files that a program needs besides the system: the package of a script, or the program file.
func program(path string) []string {
	if slices.ContainsFunc(system, func(s string) bool { return within(s, path) }) {
		return nil
	}
	if before, _, ok := strings.Cut(path, "/node_modules/"); ok {
		return []string{before + "/node_modules"}
	}
	return []string{path}
}

// packPrefix is the prefix of the name of each variable until the command starts.
const packPrefix = "PARLEY_BOXED_"

// packed returns an environment with names that no program outside the box reads.
func packed(env []string) []string {
	out := make([]string, 0, len(env))
	for _, entry := range env {
		out = append(out, packPrefix+entry)
	}
	return out
}

// Unpacked returns the environment of the process in a box, given the environment of the box's
// command.
func Unpacked(env []string) []string {
	out := []string{}
	for _, entry := range env {
		if own, ok := strings.CutPrefix(entry, packPrefix); ok {
			out = append(out, own)
		}
	}
	return out
}
