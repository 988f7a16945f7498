package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/doctor"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/server/retention"
)

// serverFlags are the settings of parley serve that parley doctor checks.
var serverFlags = []string{"config", "listen", "data", "quota-mb", "limit-mb", "nats", "nats-credentials", "nats-ca", "host", "no-host"}

// Examiner implements doctor.Server.
type Examiner struct {
	serve    Settings
	set      *pflag.FlagSet
	monitors []string // addresses for monitoring the NATS servers
}

// Register adds the flags of the checked server.
func (f *Examiner) Register(p *pflag.FlagSet) {
	all := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	f.serve.Register(all)
	for _, name := range serverFlags {
		p.AddFlag(all.Lookup(name))
	}
	p.StringSliceVar(&f.monitors, "nats-monitor", nil, "monitoring `address` of each server of --nats, such as http://nats-1:8222: checks that it syncs every write")
	f.set = all
}

// Examine checks whether a server can run with the effective settings. It needs no running server and does not affect
// one.
func (f *Examiner) Examine(ctx context.Context) []doctor.Check {
	if err := f.serve.Load(f.set, os.LookupEnv); err != nil {
		return []doctor.Check{{Name: "server settings", Status: doctor.Fail, Detail: err.Error(), Fix: "parley serve --print-config prints the settings in effect"}}
	}
	s := &f.serve
	return append([]doctor.Check{checkPort(ctx, s.listen, s.Data), checkData(s.Data), checkTokens(s.Data), checkAgents(s), checkStorage(ctx, s)}, checkStore(ctx, s, f.monitors)...)
}

// checkAgents reports whether agents survive the server, and the reason.
func checkAgents(s *Settings) doctor.Check {
	c := doctor.Check{Name: "host", Status: doctor.OK}
	if err := s.checkHost(); err != nil {
		c.Status, c.Detail, c.Fix = doctor.Fail, err.Error(), "remove one of the settings"
		return c
	}
	hosted, why := s.hosted()
	switch end := noInit(os.Getpid(), "/proc"); {
	case !hosted:
		c.Detail = "agents end with the server: " + why
	case end != "":
		c.Status, c.Detail, c.Fix = doctor.Warn, "agents outlive the server, because "+why+", but not its container: "+end, "start the container with an init"
	default:
		c.Detail = "agents outlive the server: " + why
	}
	return c
}

// checkPort checks that the port is free, or used by the server of this data directory.
func checkPort(ctx context.Context, listen, data string) doctor.Check {
	c := doctor.Check{Name: "port", Status: doctor.OK, Detail: listen + " is free"}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err == nil {
		_ = l.Close() // opened only for the check
		return c
	}
	if url := remote.Address(data); url != "" && strings.Contains(url, "://"+listen) && answers(ctx, url) {
		c.Detail = "parley serves on " + listen
		return c
	}
	c.Status, c.Detail, c.Fix = doctor.Fail, err.Error(), "end the program that has it, or name another one with --listen"
	return c
}

// answers reports whether a server responds at the address.
func answers(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/livez", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

// checkData checks that the data directory is accessible only to this user.
func checkData(data string) doctor.Check {
	c := doctor.Check{Name: "data directory", Status: doctor.OK, Detail: data}
	info, err := os.Stat(data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Detail += " will be made"
	case err != nil:
		c.Status, c.Detail, c.Fix = doctor.Fail, err.Error(), "name another one with --data"
	case !info.IsDir():
		c.Status, c.Detail, c.Fix = doctor.Fail, data+" is not a directory", "name another one with --data"
	case info.Mode().Perm()&0o077 != 0:
		c.Status, c.Detail, c.Fix = doctor.Warn, data+" can be entered by others", "chmod 700 "+data
	}
	return c
}

// checkTokens checks that only this user can read the file of tokens, and lists the files that the
// server has moved aside.
func checkTokens(data string) doctor.Check {
	c := doctor.Check{Name: "tokens", Status: doctor.OK}
	dir := filepath.Join(data, remote.ServerDir)
	t, err := server.ReadTokens(dir)
	if err != nil {
		c.Status, c.Detail, c.Fix = doctor.Fail, err.Error(), "start the server, which puts the file aside; then create the tokens again"
		return c
	}
	c.Detail = fmt.Sprintf("%d valid, %d expired", t.Valid, t.Expired)
	aside, err := server.DamagedFiles(dir)
	unreadable, readErr := server.UnreadableFiles(dir)
	switch err := errors.Join(err, readErr); {
	case err != nil:
		c.Status, c.Detail = doctor.Fail, err.Error()
	case len(unreadable) > 0:
		c.Status, c.Detail, c.Fix = doctor.Fail, fmt.Sprintf("files in %s are damaged: %s", dir, strings.Join(unreadable, ", ")), "start the server, which puts them aside; then make what was in them again, or restore them from a copy of the data directory first"
	case len(aside) > 0:
		c.Status, c.Detail, c.Fix = doctor.Warn, fmt.Sprintf("files in %s were damaged and put aside: %s", dir, strings.Join(aside, ", ")), "make the tokens and webhooks that are missing again, then delete these files"
	case t.Path == "":
		c.Detail = "none but the one that a server prints when it starts"
	case t.Mode&0o077 != 0:
		c.Status, c.Detail, c.Fix = doctor.Fail, t.Path+" can be read by others", "chmod 600 "+t.Path+", and revoke the tokens if others are on this machine"
	}
	return c
}

// checkStorage measures the disk usage of the data by kind.
func checkStorage(ctx context.Context, s *Settings) doctor.Check {
	c := doctor.Check{Name: "storage", Status: doctor.OK}
	limits, err := retention.ParseLimits(s.limits)
	if err != nil {
		c.Status, c.Detail, c.Fix = doctor.Fail, "--limit-mb "+err.Error(), "correct --limit-mb"
		return c
	}
	folder := func(name, path string) retention.Kind {
		return retention.Kind{Name: name, Measure: func(ctx context.Context) (retention.Size, error) { return retention.Folder(ctx, path) }}
	}
	kinds := append([]retention.Kind{folder("logs", filepath.Join(s.Data, remote.LogDir))}, server.Folders(filepath.Join(s.Data, remote.ServerDir))...)
	if archive, err := remote.DefaultArchive(); err == nil {
		kinds = append(kinds, folder("archives", archive))
	}
	var parts []string
	for _, k := range kinds {
		size, err := k.Measure(ctx)
		if err != nil {
			c.Status, c.Detail, c.Fix = doctor.Warn, err.Error(), "check the permissions of the directory"
			return c
		}
		part, over := fmt.Sprintf("%s %d MB", k.Name, (size.Bytes+1<<20-1)>>20), ""
		if size.AtLeast {
			over = "at least "
		}
		if limit := limits[k.Name]; limit > 0 {
			part += fmt.Sprintf(" of %d", limit>>20)
		}
		parts = append(parts, over+part)
	}
	c.Detail = strings.Join(parts, ", ")
	return c
}

// checkStore checks the disk and NATS.
func checkStore(ctx context.Context, s *Settings, monitors []string) []doctor.Check {
	local := s.storeOptions(nil)
	local.URL, local.Dir = "", filepath.Join(s.Data, remote.LogDir)
	disk := doctor.Check{Name: "disk", Status: doctor.OK}
	health, err := eventlog.Examine(ctx, local)
	switch room := health.Free - health.Reserve; {
	case errors.Is(err, eventlog.ErrFull):
		disk.Status, disk.Detail, disk.Fix = doctor.Fail, err.Error(), "make room, or name another disk with --data"
	case err != nil:
		disk.Status, disk.Detail, disk.Fix = doctor.Fail, err.Error(), "name another directory with --data"
	case room < s.quotaMB<<20:
		disk.Status, disk.Fix = doctor.Warn, "make room, or lower --quota-mb"
		disk.Detail = fmt.Sprintf("%d MB can be used, less than the %d MB of --quota-mb", room>>20, s.quotaMB)
	default:
		disk.Detail = fmt.Sprintf("%d MB can be used, logs take up to %d MB", room>>20, s.quotaMB)
	}
	return []doctor.Check{disk, checkDamage(health), checkNATS(ctx, s, monitors, health.Owner)}
}

// maxDamage limits the listed losses.
const maxDamage = 20

// checkDamage lists the losses of the logs, and counts the files in which the next start will find damage.
func checkDamage(h eventlog.Health) doctor.Check {
	c := doctor.Check{Name: "logs", Status: doctor.OK, Detail: "whole"}
	if len(h.Damage) == 0 && h.Bad == 0 {
		return c
	}
	var texts []string
	for _, d := range h.Damage[:min(len(h.Damage), maxDamage)] {
		texts = append(texts, d.String())
	}
	if more := len(h.Damage) - maxDamage; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more losses", more))
	}
	if h.Bad > 0 {
		texts = append(texts, fmt.Sprintf("%d files are damaged; the next start keeps their intact records", h.Bad))
	}
	c.Status, c.Detail = doctor.Warn, strings.Join(texts, "; ")
	c.Fix = "restore a backup if you need them; the damaged files are in log/damaged of the data directory; a session that is deleted is no longer listed"
	return c
}
