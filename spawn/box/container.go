package box

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

// Labels of containers.
const (
	labelHost    = "parley.host"
	labelSession = "parley.session"
)

// endTime is the time limit for ending containers by their labels.
const endTime = 30 * time.Second

// Container is a box that docker or podman creates from an image. It has the same paths as a [Box] of bubblewrap, but the system of the
// image.
type Container struct {
	// Box describes the visible files. Its Program is docker or podman.
	Box Box
	// Image is the name of the image, which must be on this machine: nothing is downloaded.
	Image string
	// Host and Session are labels by which End and Sweep find the container.
	Host, Session string
	// Env is the environment of the client, with variables such as DOCKER_HOST. The process in the
	// container does not get them.
	Env []string
}

var (
	imageName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,500}$`)
	labelText = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$`)
)

// checkNames rejects an image and labels that the client could interpret as something else.
func (c *Container) checkNames() error {
	switch {
	case !imageName.MatchString(c.Image):
		return fmt.Errorf("%w: %q is not the name of an image", ErrRefused, c.Image)
	case !labelText.MatchString(c.Host) || !labelText.MatchString(c.Session):
		return fmt.Errorf("%w: the labels %q and %q", ErrRefused, c.Host, c.Session)
	}
	return nil
}

// Command returns the command that runs cmd in a container. Secrets stay in the environment.
func (c *Container) Command(cmd spawn.Command) (spawn.Command, error) {
	if err := c.checkNames(); err != nil {
		return cmd, err
	}
	cmd, err := c.Box.inspect(cmd)
	if err != nil {
		return cmd, err
	}
	mounts, err := c.binds(cmd)
	if err != nil {
		return cmd, err
	}
	args := []string{"run", "--rm", "--interactive", "--init", "--pull=never", "--label=" + labelHost + "=" + c.Host, "--label=" + labelSession + "=" + c.Session,
		"--cap-drop=ALL", "--security-opt=no-new-privileges", "--read-only", "--hostname=box", "--workdir=" + cmd.Dir}
	if filepath.Base(c.Box.Program) == "podman" {
		args = append(args, "--userns=keep-id")
	}
	args = append(args, fmt.Sprintf("--user=%d:%d", os.Getuid(), os.Getgid()))
	if c.Box.Network.Closed() {
		args = append(args, "--network=none")
	}
	args = append(args, mounts...)
	boxed := packed(cmd.Env)
	for _, entry := range boxed {
		name, _, _ := strings.Cut(entry, "=")
		args = append(args, "--env="+name) // its value is in the environment of the client
	}
	args = append(args, "--entrypoint="+initPath, c.Image, initArgument)
	for i, port := range slices.Sorted(maps.Keys(c.Box.Doors)) {
		args = append(args, strconv.Itoa(port)+"="+filepath.Join(doorsPath, strconv.Itoa(i), filepath.Base(c.Box.Doors[port])))
	}
	out := cmd
	out.Path, out.Dir, out.Files = c.Box.Program, "/", nil
	out.Args, out.Env = slices.Concat(args, []string{"--", cmd.Path}, cmd.Args), slices.Concat(c.Env, boxed)
	return out, nil
}

// binds returns the mounts of a container.
func (c *Container) binds(cmd spawn.Command) (args []string, err error) {
	type bind struct {
		from, to string // from is empty for an empty directory
		change   bool
	}
	list := []bind{{to: "/tmp"}, {to: "/var/tmp"}, {to: c.Box.Home}}
	for _, path := range c.Box.Empty {
		list = append(list, bind{to: path})
	}
	shown := slices.Concat([]string{cmd.Dir}, c.Box.Write, c.Box.Read)
	for i, path := range slices.Concat(shown, c.Box.Logins) {
		list = append(list, bind{path, path, i < 1+len(c.Box.Write) || i >= len(shown)})
	}
	for _, path := range slices.Concat(program(cmd.Path), cmd.Files) {
		list = append(list, bind{from: path, to: path})
	}
	for _, path := range c.Box.Hide {
		info, statErr := os.Lstat(path)
		if statErr != nil || !slices.ContainsFunc(shown, func(s string) bool { return within(s, path) }) {
			continue
		}
		hidden := bind{to: path}
		if !info.IsDir() {
			hidden.from = "/dev/null"
		}
		list = append(list, hidden)
	}
	list = append(list, bind{from: c.Box.Init, to: initPath})
	for i, port := range slices.Sorted(maps.Keys(c.Box.Doors)) {
		list = append(list, bind{from: filepath.Dir(c.Box.Doors[port]), to: filepath.Join(doorsPath, strconv.Itoa(i))})
	}
	slices.SortStableFunc(list, func(x, y bind) int { return strings.Compare(x.to+"/", y.to+"/") })
	for _, b := range list {
		switch {
		case strings.ContainsAny(b.from+b.to, ",:\"\n\r"):
			return nil, fmt.Errorf("%w: the path %q cannot be shown in a container", ErrRefused, b.to)
		case b.from == "":
			args = append(args, "--tmpfs="+b.to+":rw,nosuid,nodev,mode=1777")
		case b.change:
			args = append(args, "--mount=type=bind,source="+b.from+",target="+b.to)
		default:
			args = append(args, "--mount=type=bind,source="+b.from+",target="+b.to+",readonly")
		}
	}
	return args, nil
}

// Spawner returns a spawner that starts commands with next, each in a container.
func (c *Container) Spawner(next spawn.Spawner) spawn.Spawner { return &containerSpawner{c, next} }

type containerSpawner struct {
	container *Container
	next      spawn.Spawner
}

// Local reports whether next runs processes on this machine: the files in a container have the same
// paths outside.
func (s *containerSpawner) Local() bool {
	l, ok := s.next.(spawn.Locality)
	return ok && l.Local()
}

// Spawn starts a command in a container.
func (s *containerSpawner) Spawn(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	boxed, err := s.container.Command(cmd)
	if err != nil {
		return nil, err
	}
	return s.next.Spawn(ctx, boxed)
}

// End ends the containers of the session, even if their client was killed.
func (c *Container) End(ctx context.Context) error {
	if err := c.checkNames(); err != nil {
		return err
	}
	_, err := c.end(ctx, "--filter=label="+labelHost+"="+c.Host, "--filter=label="+labelSession+"="+c.Session)
	return err
}

// Sweep ends the containers of the host except those of the sessions to keep, and returns the number of ended ones.
func (c *Container) Sweep(ctx context.Context, keep ...string) (int, error) {
	if !labelText.MatchString(c.Host) {
		return 0, fmt.Errorf("%w: the label %q", ErrRefused, c.Host)
	}
	return c.end(ctx, append([]string{"--filter=label=" + labelHost + "=" + c.Host}, keep...)...)
}

// end ends the containers that match filters, except those of the sessions to keep.
func (c *Container) end(ctx context.Context, filters ...string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	keep := slices.DeleteFunc(slices.Clone(filters), func(f string) bool { return strings.HasPrefix(f, "--") })
	filters = slices.DeleteFunc(slices.Clone(filters), func(f string) bool { return !strings.HasPrefix(f, "--") })
	listed, err := c.client(ctx, append([]string{"ps", "--all", "--no-trunc", `--format={{.ID}} {{.Label "` + labelSession + `"}}`}, filters...)...)
	if err != nil {
		return 0, err
	}
	args := []string{"rm", "--force"}
	for line := range strings.Lines(listed) {
		id, session, _ := strings.Cut(strings.TrimSpace(line), " ")
		if id != "" && !slices.Contains(keep, session) {
			args = append(args, id)
		}
	}
	if len(args) == 2 {
		return 0, nil
	}
	_, err = c.client(ctx, args...)
	return len(args) - 2, err
}

// client runs docker or podman and returns its output.
func (c *Container) client(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Box.Program, args...)
	cmd.Env = append([]string{}, c.Env...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return "", fmt.Errorf("%s %s: %w: %s", c.Box.Program, args[0], err, strings.TrimSpace(said.String()))
	}
	return string(out), nil
}

// Try creates another container with the same settings, and runs the trial in it.
func (c *Container) Try(ctx context.Context, dir string, env []string, t Trial) (Seen, error) {
	cmd, err := c.Command(spawn.Command{Path: c.Box.Init, Args: []string{tryArgument}, Dir: dir, Env: env})
	if err != nil {
		return Seen{}, err
	}
	return t.run(ctx, cmd)
}

// Probe returns the reason why containers of the image cannot be created, or nil. The error matches
// ErrUnavailable.
func (c *Container) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if !imageName.MatchString(c.Image) {
		return fmt.Errorf("%w: %q is not the name of an image", ErrUnavailable, c.Image)
	}
	if _, err := c.client(ctx, "image", "inspect", "--format={{.Id}}", c.Image); err != nil {
		return errors.Join(fmt.Errorf("%w: no daemon, or no image %s", ErrUnavailable, c.Image), err)
	}
	return nil
}
