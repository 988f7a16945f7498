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

// serverFlags are the settings of parley serve that parley doctor looks at.
var serverFlags = []string{"config", "listen", "data", "quota-mb", "limit-mb", "nats", "nats-credentials", "nats-ca"}

// Examiner is a doctor.Server.
type Examiner struct {
	serve Settings
	set   *pflag.FlagSet
}

// Register adds the flags of the server that is looked at.
func (f *Examiner) Register(p *pflag.FlagSet) {
	all := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	f.serve.Register(all)
	for _, name := range serverFlags {
		p.AddFlag(all.Lookup(name))
	}
	f.set = all
}

// Examine checks whether a server can be run here with the settings that count. What
// it finds needs nothing of a server that runs, and disturbs none.
func (f *Examiner) Examine(ctx context.Context) []doctor.Check {
	if err := f.serve.Load(f.set, os.LookupEnv); err != nil {
		return []doctor.Check{{Name: "server settings", Status: doctor.Fail, Detail: err.Error(), Fix: "parley serve --print-config says what counts"}}
	}
	s := &f.serve
	return append([]doctor.Check{checkPort(ctx, s.listen, s.Data), checkData(s.Data), checkTokens(s.Data), checkStorage(ctx, s)}, checkStore(ctx, s)...)
}

// checkPort looks whether the port is free, or is that of the server of this data directory.
func checkPort(ctx context.Context, listen, data string) doctor.Check {
	c := doctor.Check{Name: "port", Status: doctor.OK, Detail: listen + " is free"}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err == nil {
		_ = l.Close() // it was opened to see whether that works
		return c
	}
	if url := remote.Address(data); url != "" && strings.Contains(url, "://"+listen) && answers(ctx, url) {
		c.Detail = "parley serves on " + listen
		return c
	}
	c.Status, c.Detail, c.Fix = doctor.Fail, err.Error(), "end the program that has it, or name another one with --listen"
	return c
}

// answers reports whether a server says that it lives.
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

// checkData looks whether the data directory belongs to this user alone.
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

// checkTokens reads the tokens of the server, which others must not.
func checkTokens(data string) doctor.Check {
	c := doctor.Check{Name: "tokens", Status: doctor.OK}
	dir := filepath.Join(data, remote.ServerDir)
	t, err := server.ReadTokens(dir)
	if err != nil {
		c.Status, c.Detail, c.Fix = doctor.Fail, err.Error(), "move the file away; tokens have to be made again then"
		return c
	}
	c.Detail = fmt.Sprintf("%d valid, %d expired", t.Valid, t.Expired)
	switch {
	case t.Path == "":
		c.Detail = "none but the one that a server prints when it starts"
	case t.Mode&0o077 != 0:
		c.Status, c.Detail, c.Fix = doctor.Fail, t.Path+" can be read by others", "chmod 600 "+t.Path+", and revoke the tokens if others are on this machine"
	}
	return c
}

// checkStorage measures what the data takes, kind by kind.
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
			c.Status, c.Detail, c.Fix = doctor.Warn, err.Error(), "look at the rights of the directory"
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

// checkStore looks at the disk and at NATS.
func checkStore(ctx context.Context, s *Settings) []doctor.Check {
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
	return []doctor.Check{disk, checkDamage(health), checkNATS(ctx, s, health.Owner)}
}

// maxDamage is how many losses are listed.
const maxDamage = 20

// checkDamage lists what the logs have lost, and counts the files in which the next start will find damage.
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
		texts = append(texts, fmt.Sprintf("%d files are damaged; the next start keeps what is whole in them", h.Bad))
	}
	c.Status, c.Detail = doctor.Warn, strings.Join(texts, "; ")
	c.Fix = "restore a backup if you need them; the damaged files are in log/damaged of the data directory; a session that is deleted is no longer listed"
	return c
}

func checkNATS(ctx context.Context, s *Settings, owner int) doctor.Check {
	c := doctor.Check{Name: "NATS", Status: doctor.OK, Detail: "embedded"}
	if s.nats == "" {
		if owner != 0 {
			c.Detail = fmt.Sprintf("embedded, in use by process %d", owner)
		}
		return c
	}
	health, err := eventlog.Examine(ctx, s.storeOptions(nil))
	if err != nil {
		c.Status, c.Detail, c.Fix = doctor.Fail, err.Error(), "start the server with JetStream on, or mend --nats and --nats-credentials"
		return c
	}
	c.Detail = fmt.Sprintf("%s with %d streams; it has to sync each write (sync_interval: always) or to keep three copies", health.Server, health.Streams)
	return c
}
