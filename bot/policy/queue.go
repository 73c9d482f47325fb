package policy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"standin/channels"
)

// Mode says what becomes of messages that come while their session's turn runs.
type Mode string

// The modes of the queue [S24].
const (
	// Steer tells the running turn of those of its place when its tools have come
	// back; what comes later gets a turn of its own.
	Steer     Mode = "steer"
	FollowUp  Mode = "followup"  // each gets a turn of its own
	Collect   Mode = "collect"   // those of one place get one turn together
	Interrupt Mode = "interrupt" // the running turn is stopped for the newest
)

// Overflow says what becomes of messages beyond the cap.
type Overflow string

// The choices of drop [S25].
const (
	Summarize Overflow = "summarize" // the oldest are told in a line each
	DropOld   Overflow = "old"       // the oldest are dropped
	DropNew   Overflow = "new"       // the newest is dropped
)

// Queue is how a session's waiting messages are treated. What is zero comes
// from the next wider setting.
type Queue struct {
	Mode Mode     // mode
	Cap  int      // cap: how many may wait; 20 by default
	Drop Overflow // drop; summarize by default
	// Debounce is how long it must have been quiet before those that are
	// collected get their turn (debounceMs); half a second by default, negative is
	// none.
	Debounce time.Duration
}

// Queues are the settings of all sessions [S27].
type Queues struct {
	Queue                     // messages.queue
	ByChannel map[string]Mode // messages.queue.byChannel
}

const (
	queueCap      = 20
	queueDebounce = 500 * time.Millisecond
)

// Of gives the queue of a session: its own setting, then the channel's, then
// the general one, then steer [S27].
func (q Queues) Of(own Queue, channel string) Queue {
	all := q.Queue.Merged(Queue{Mode: q.ByChannel[channel]}).Merged(own)
	if all.Mode == "" {
		all.Mode = Steer
	}
	if all.Cap <= 0 {
		all.Cap = queueCap
	}
	if all.Drop == "" {
		all.Drop = Summarize
	}
	if all.Debounce == 0 {
		all.Debounce = queueDebounce
	}
	return all
}

// Merged is a session's own setting after a change of it.
func (q Queue) Merged(change Queue) Queue {
	if change.Mode != "" {
		q.Mode = change.Mode
	}
	if change.Cap > 0 {
		q.Cap = change.Cap
	}
	if change.Drop != "" {
		q.Drop = change.Drop
	}
	if change.Debounce != 0 {
		q.Debounce = change.Debounce
	}
	return q
}

// ParseQueue reads what /queue and a session's row say: a mode, "cap:10",
// "drop:old", in any order. The error is a sentence for people.
func ParseQueue(text string) (q Queue, err error) {
	for _, word := range strings.Fields(strings.ToLower(text)) {
		name, value, option := strings.Cut(word, ":")
		switch {
		case option && name == "cap":
			if q.Cap, err = strconv.Atoi(value); err != nil || q.Cap < 1 || q.Cap > 1000 {
				return Queue{}, fmt.Errorf("cap needs a number from 1 to 1000, not %q", value)
			}
		case option && name == "drop":
			if q.Drop = Overflow(value); q.Drop != Summarize && q.Drop != DropOld && q.Drop != DropNew {
				return Queue{}, fmt.Errorf("drop is summarize, old or new, not %q", value)
			}
		case option && name == "debounce":
			if q.Debounce, err = time.ParseDuration(value); err != nil || q.Debounce < 0 || q.Debounce > time.Minute {
				return Queue{}, fmt.Errorf("debounce needs a time up to a minute, such as 500ms or 2s, not %q", value)
			}
			if q.Debounce == 0 {
				q.Debounce = -1
			}
		case option:
			return Queue{}, fmt.Errorf("there is no setting %q, only cap, debounce and drop", name)
		default:
			if q.Mode = ModeOf(word); q.Mode == "" {
				return Queue{}, errors.New("the modes are steer, followup, collect and interrupt")
			}
		}
	}
	return q, nil
}

// ModeOf reads a mode by its present or a former name, "" for none [S24].
func ModeOf(word string) Mode {
	switch m := Mode(strings.ToLower(strings.TrimSpace(word))); m {
	case Steer, FollowUp, Collect, Interrupt:
		return m
	case "queue", "steer-backlog", "steer+backlog":
		return Steer
	}
	return ""
}

// String is what ParseQueue reads.
func (q Queue) String() string {
	var words []string
	if q.Mode != "" {
		words = append(words, string(q.Mode))
	}
	if q.Cap > 0 {
		words = append(words, "cap:"+strconv.Itoa(q.Cap))
	}
	if q.Drop != "" {
		words = append(words, "drop:"+string(q.Drop))
	}
	if q.Debounce != 0 {
		words = append(words, "debounce:"+max(q.Debounce, 0).String())
	}
	return strings.Join(words, " ")
}

// Merges tells whether waiting messages get one turn together: only if all of
// them came from one place, or an answer would land in the wrong thread [S26].
func Merges(q Queue, waiting []channels.Address) bool {
	return q.Mode == Collect && onePlace(waiting)
}

// Steers tells whether waiting messages are told to the turn that runs: as with
// Merges, only if they came from its place [S24].
func Steers(q Queue, waiting []channels.Address) bool {
	return q.Mode == Steer && onePlace(waiting)
}

func onePlace(waiting []channels.Address) bool {
	for _, to := range waiting {
		if to != waiting[0] {
			return false
		}
	}
	return true
}

// Summary is what a model is told of messages that fell out of a full queue: a
// count and a line of at most 160 characters for each [S25]; "" for none.
func Summary(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	noun := "messages"
	if len(texts) == 1 {
		noun = "message"
	}
	lines := []string{fmt.Sprintf("[%d earlier %s did not fit the queue; in short:]", len(texts), noun)}
	for _, text := range texts {
		lines = append(lines, "- "+Short(text, 160))
	}
	return strings.Join(lines, "\n")
}

// Short is a text in one line of at most n characters.
func Short(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:n-1])) + "…"
}
