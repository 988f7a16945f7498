package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/doctor"
	"github.com/seed7221b0f9/parley/eventlog"
)

// safeNATS is the setting that every NATS server needs.
const safeNATS = "set sync_interval: always in the jetstream block of every NATS server, and keep three copies (--nats-replicas 3)"

// checkNATS checks the NATS servers. It reports them as safe only if each is known to sync every
// write. Clients cannot read this setting, but the monitoring port has it.
func checkNATS(ctx context.Context, s *Settings, monitors []string, owner int) doctor.Check {
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
	c.Detail = fmt.Sprintf("%s with %d streams", health.Server, health.Streams)
	if len(monitors) == 0 {
		c.Status, c.Fix = doctor.Warn, safeNATS+"; then name their monitoring addresses with --nats-monitor"
		c.Detail += "; whether it syncs every write is not known: " + lostInPowerCut(2*time.Minute, true)
		return c
	}
	checkMonitors(ctx, &c, monitors)
	return c
}

// lostInPowerCut describes the possible loss in a power cut with a sync interval; the default interval is two
// minutes.
func lostInPowerCut(interval time.Duration, byDefault bool) string {
	text := fmt.Sprintf("a power cut can lose messages acknowledged in the last %v", interval)
	if byDefault {
		text = fmt.Sprintf("by default a power cut can lose messages acknowledged in the last %v", interval)
	}
	return text + ", that is prompts, answers to requests, events of sessions, tokens and leases"
}

// checkMonitors asks the monitoring addresses of the NATS servers for their settings.
func checkMonitors(ctx context.Context, c *doctor.Check, monitors []string) {
	asked, size := map[string]bool{}, 1
	for _, address := range monitors {
		info, err := jetStreamInfo(ctx, address)
		switch {
		case err != nil:
			c.Status, c.Fix = doctor.Fail, "open the monitoring port (http_port), or name another address with --nats-monitor"
			c.Detail += fmt.Sprintf("; whether %s syncs every write is not known: %v", address, err)
			return
		case info.Disabled || info.ID == "":
			c.Status, c.Fix = doctor.Fail, "name a server with JetStream on"
			c.Detail += fmt.Sprintf("; %s has no JetStream", address)
			return
		case !info.Config.SyncAlways:
			c.Status, c.Fix = doctor.Fail, safeNATS
			c.Detail += fmt.Sprintf("; %s does not sync every write: %s", address, lostInPowerCut(info.Config.SyncInterval, false))
			return
		}
		asked[info.ID] = true
		if info.Meta != nil {
			size = max(size, info.Meta.Size)
		}
	}
	if len(asked) < size {
		c.Status, c.Fix = doctor.Warn, "name the monitoring addresses of all servers with --nats-monitor"
		c.Detail += fmt.Sprintf("; %d of %d servers sync every write, the others are not known", len(asked), size)
		return
	}
	c.Detail += "; every server syncs every write"
}

// jetStream holds the checked part of a NATS server's report.
type jetStream struct {
	ID       string `json:"server_id"`
	Disabled bool   `json:"disabled"`
	Config   struct {
		SyncInterval time.Duration `json:"sync_interval"`
		SyncAlways   bool          `json:"sync_always"`
	} `json:"config"`
	Meta *struct {
		Size int `json:"cluster_size"`
	} `json:"meta_cluster"`
}

// maxReport limits the size of a NATS server's report in bytes.
const maxReport = 1 << 20

// jetStreamInfo asks a NATS server for its report about JetStream.
func jetStreamInfo(ctx context.Context, address string) (info jetStream, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+"/jsz", nil)
	if err != nil {
		return info, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return info, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return info, fmt.Errorf("%s returned %s", req.URL, resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxReport)).Decode(&info); err != nil {
		return info, fmt.Errorf("%s: %w", req.URL, err)
	}
	return info, nil
}
