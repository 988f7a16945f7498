package server

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// auditLogName is the log of the audit rows.
const auditLogName = "audit"

// audit stores a row for every decision: the caller, the action, and the outcome.
type audit struct {
	log session.Log
	mu  sync.Mutex
	seq uint64
}

func openAudit(ctx context.Context, log session.Log) (*audit, error) {
	a := &audit{log: log}
	at, err := log.Last(ctx)
	if err != nil && !session.IsMissing(err) {
		return nil, err
	}
	a.seq = at.Seq
	return a, nil
}

// add stores a row. It is on disk when add returns nil.
func (a *audit) add(ctx context.Context, row api.AuditRow) error {
	row.TS = session.Timestamp(time.Now())
	data, err := json.Marshal(row)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		last, err := a.log.Append(ctx, a.seq, data)
		var c *eventlog.ConflictError
		if errors.As(err, &c) && c.Last != a.seq { // another server of the cluster wrote a row
			a.seq = c.Last
			continue
		}
		if err == nil {
			a.seq = last
		}
		return err
	}
}

// maxAuditPage is the maximum number of rows of a page, auditScan the number of rows that are read for it.
const (
	maxAuditPage = 500
	auditScan    = 5000
)

// list returns rows, newest first. The cursor is the number of the last row read.
func (a *audit) list(ctx context.Context, p api.AuditListParams) (api.AuditListResult, error) {
	a.mu.Lock()
	end := a.seq
	a.mu.Unlock()
	if p.Cursor != "" {
		n, err := strconv.ParseUint(p.Cursor, 10, 64)
		if err != nil || n == 0 {
			return api.AuditListResult{}, session.Invalid("the cursor is not one of audit.list")
		}
		end = min(end, n-1)
	}
	start := end - min(end, auditScan)
	var rows []api.AuditRow
	var numbers []uint64
	for ev, err := range session.ReadAround(ctx, a.log, start) {
		if session.IsMissing(err) || end == 0 {
			break
		}
		if err != nil {
			return api.AuditListResult{}, err
		}
		if ev.Seq > end {
			break
		}
		var row api.AuditRow
		if json.Unmarshal(ev.Data, &row) == nil && auditMatches(row, p) {
			rows, numbers = append(rows, row), append(numbers, ev.Seq)
		}
	}
	max := int(p.Limit)
	if max <= 0 || max > maxAuditPage {
		max = maxAuditPage
	}
	result := api.AuditListResult{Rows: []api.AuditRow{}}
	for i := len(rows) - 1; i >= 0; i-- {
		if len(result.Rows) == max {
			result.Cursor = strconv.FormatUint(numbers[i+1], 10)
			return result, nil
		}
		result.Rows = append(result.Rows, rows[i])
	}
	if start > 0 {
		result.Cursor = strconv.FormatUint(start+1, 10)
	}
	return result, nil
}

func auditMatches(row api.AuditRow, p api.AuditListParams) bool {
	return (p.SessionID == "" || row.SessionID == p.SessionID) && (p.By == "" || row.By == p.By) &&
		(p.Since == "" || row.TS >= p.Since) && (p.Until == "" || row.TS < p.Until)
}
