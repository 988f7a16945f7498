package usage

import "time"

// hourKey is the format of an hour's key: hours that a change of the clocks repeats differ in the
// zone.
const hourKey = "2006-01-02T15:00Z07:00"

// keys returns a function that returns the key of an answer in a report.
func (l *Ledger) keys(by By, v View) func(*entry) string {
	switch by {
	case BySession:
		return func(e *entry) string { return l.names.text(e.session) }
	case ByProject:
		return func(e *entry) string { return l.projectName(l.files[e.file]) }
	case ByModel:
		return func(e *entry) string { return l.names.text(e.model) }
	case ByBranch:
		return func(e *entry) string { return l.names.text(e.branch) }
	case ByAgent:
		return func(e *entry) string { return l.names.text(e.agent) }
	}
	// Consecutive answers are often of the same hour.
	var last int64 = -1
	var lastKey string
	return func(e *entry) string {
		// Hours of every time zone start at a quarter of an hour in UTC.
		if quarter := e.at / (15 * 60 * 1000); quarter != last {
			last, lastKey = quarter, timeKey(by, e.time().In(v.Location), v.WeekStart)
		}
		return lastKey
	}
}

func timeKey(by By, t time.Time, weekStart time.Weekday) string {
	switch by {
	case ByHour:
		return t.Format(hourKey)
	case ByMonth:
		return t.Format("2006-01")
	case ByWeek:
		back := (int(t.Weekday()) - int(weekStart) + 7) % 7
		return time.Date(t.Year(), t.Month(), t.Day()-back, 12, 0, 0, 0, time.UTC).Format(time.DateOnly)
	}
	return t.Format(time.DateOnly)
}

// start returns the start of the period of a key; zero for a key that is not a time.
func start(by By, k string, v View) time.Time {
	layout := ""
	switch by {
	case ByHour:
		layout = hourKey
	case ByDay, ByWeek:
		layout = time.DateOnly
	case ByMonth:
		layout = "2006-01"
	default:
		return time.Time{}
	}
	t, err := time.ParseInLocation(layout, k, v.Location)
	if err != nil {
		return time.Time{}
	}
	return t
}

// projectName returns the directory of a file's project or, if no line names it, the CLI's name for
// it.
func (l *Ledger) projectName(f *file) string {
	if name, ok := l.projects()[f.project]; ok {
		return name
	}
	return f.project
}

// projects returns the directories of the projects by their names below projects. All files of a
// project get one directory: the one that the name was derived from, otherwise the first in the
// alphabet.
func (l *Ledger) projects() map[string]string {
	if l.places != nil {
		return l.places
	}
	places := map[string]string{}
	for _, f := range l.files {
		if f.cwd == "" {
			continue
		}
		old, ok := places[f.project]
		better := keyed(f.cwd, f.project)
		if known := ok && keyed(old, f.project); !ok || better && !known || better == known && f.cwd < old {
			places[f.project] = f.cwd
		}
	}
	l.places = places
	return places
}
