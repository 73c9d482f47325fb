package heartbeat

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// File is what HEARTBEAT.md says [H9].
type File struct {
	Missing bool
	Err     error  // why it could not be read
	Text    string // without the tasks
	Tasks   []Task
	Faults  []string // lines of tasks that mean nothing, for the log and for check
}

// Task is one thing that is to be done every so often.
type Task struct {
	Name   string
	Every  time.Duration
	Prompt string
}

// fileChars bounds what of the file goes into a request [G34].
const fileChars = 20_000

// ReadFile reads HEARTBEAT.md with read, which is os.ReadFile or a test's own.
// An empty path is a file that is not there.
func ReadFile(path string, read func(string) ([]byte, error)) File {
	if path == "" {
		return File{Missing: true}
	}
	data, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return File{Missing: true}
	case err != nil:
		return File{Err: err}
	}
	return ParseFile(string(data))
}

var (
	comment = regexp.MustCompile(`(?s)<!--.*?(-->|$)`)
	heading = regexp.MustCompile(`^#+(\s|$)`)
	bullet  = regexp.MustCompile(`^([-*+]|\d+[.)])\s*(\[[ xX]?\]\s*)?$`)
	fence   = regexp.MustCompile("^(```+|~~~+)\\s*\\w*$")
)

// Empty tells whether there is nothing to do in a file that is there: blank
// lines, headings, comments, empty bullets and checkboxes, fences [H9].
func (f File) Empty() bool {
	if f.Missing || f.Err != nil || len(f.Tasks) > 0 {
		return false
	}
	for _, line := range strings.Split(comment.ReplaceAllString(f.Text, ""), "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !heading.MatchString(line) && !bullet.MatchString(line) && !fence.MatchString(line) {
			return false
		}
	}
	return true
}

var (
	taskHead  = regexp.MustCompile(`^tasks:\s*(\[\s*\])?\s*$`)
	taskItem  = regexp.MustCompile(`^\s*-\s+(.*)$`)
	taskField = regexp.MustCompile(`^\s*(name|interval|prompt)\s*:\s*(.*)$`)
)

// ParseFile takes the list of tasks out of the text:
//
//	tasks:
//	  - name: inbox
//	    interval: 30m
//	    prompt: Look for mail that cannot wait.
//
// The list ends with the first line that is neither indented nor an item. An
// item that cannot be used is a fault and is left out; the others count.
func ParseFile(text string) File {
	f := File{}
	var rest []string
	var task *Task
	var interval string
	start := 0
	flush := func() {
		if task == nil {
			return
		}
		every, err := parseInterval(interval)
		switch {
		case task.Name == "":
			f.Faults = append(f.Faults, fmt.Sprintf("line %d: the task has no name; add one, such as name: inbox", start))
		case interval == "":
			f.Faults = append(f.Faults, fmt.Sprintf("line %d: the task %s has no interval; add one, such as interval: 30m", start, task.Name))
		case err != nil:
			f.Faults = append(f.Faults, fmt.Sprintf("line %d: the interval of the task %s is not a duration; write it as 30m, 2h or 1d", start, task.Name))
		case task.Prompt == "":
			f.Faults = append(f.Faults, fmt.Sprintf("line %d: the task %s has no prompt; say there what to do", start, task.Name))
		case hasTask(f.Tasks, task.Name):
			f.Faults = append(f.Faults, fmt.Sprintf("line %d: a task %s stands above; give each a name of its own", start, task.Name))
		default:
			task.Every = every
			f.Tasks = append(f.Tasks, *task)
		}
		task, interval = nil, ""
	}
	inTasks := false
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case taskHead.MatchString(line):
			inTasks = true
			continue
		case !inTasks:
			rest = append(rest, line)
			continue
		case trimmed == "" || strings.HasPrefix(trimmed, "#") && line != trimmed:
			continue
		}
		if m := taskItem.FindStringSubmatch(line); m != nil {
			flush()
			task, start, line = &Task{}, i+1, "  "+m[1]
		} else if line == strings.TrimLeft(line, " \t") {
			flush()
			inTasks = false
			rest = append(rest, line)
			continue
		}
		m := taskField.FindStringSubmatch(line)
		if m == nil || task == nil {
			f.Faults = append(f.Faults, fmt.Sprintf("line %d: %q is not name:, interval: or prompt: of a task", i+1, clip(trimmed, 40)))
			continue
		}
		value := unquote(m[2])
		switch m[1] {
		case "name":
			task.Name = value
		case "interval":
			interval = value
		case "prompt":
			task.Prompt = value
		}
	}
	flush()
	f.Text = clip(strings.TrimSpace(strings.Join(rest, "\n")), fileChars)
	return f
}

func hasTask(tasks []Task, name string) bool {
	for _, t := range tasks {
		if t.Name == name {
			return true
		}
	}
	return false
}

// unquote takes the quotes off a value.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// parseInterval reads a positive duration; days may be written as 1d, and a
// bare number is minutes, as for heartbeat.every [H1].
func parseInterval(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if n, bare := strconv.Atoi(s); bare == nil {
		d, err = time.Duration(n)*time.Minute, nil
	} else if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, wrong := strconv.Atoi(days); wrong == nil {
			d, err = time.Duration(n)*24*time.Hour, nil
		}
	}
	if err == nil && d <= 0 {
		err = fmt.Errorf("%q is no time", s)
	}
	return d, err
}

// Due gives the tasks whose interval has passed since they were last done; one
// that was never done is due, and one whose last time lies as far ahead: a clock
// that was wrong has stamped it [H9].
func Due(tasks []Task, stamps map[string]time.Time, now time.Time) (due []Task) {
	for _, t := range tasks {
		if at, ok := stamps[t.Name]; !ok || now.Sub(at).Abs() >= t.Every {
			due = append(due, t)
		}
	}
	return due
}

// clip keeps at most n characters.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
