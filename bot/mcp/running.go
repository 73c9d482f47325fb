package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"standin/bot/tools"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// State is how a server is.
type State string

// The states of a server.
const (
	Starting State = "starting"
	Ready    State = "ready"
	Waiting  State = "waiting" // failed, and is started again at Next
)

// Standing is a server as people see it.
type Standing struct {
	Name  string
	State State
	Since time.Time
	Next  time.Time // of the next try
	Tools int
	Error string // of the last failure, redacted
}

// The waits between tries, doubling; a server that ran for a while starts anew.
const (
	firstWait = time.Second
	lastWait  = 5 * time.Minute
	settled   = time.Minute
)

// running is a server with its life.
type running struct {
	Server
	hub   *Hub
	stop  context.CancelFunc
	ended chan struct{}

	mu    sync.Mutex
	state State
	since time.Time
	next  time.Time
	err   string
	tools []tools.Tool
}

// run keeps the server up until ctx ends; predecessor, of the same name, ends
// first.
func (r *running) run(ctx context.Context, predecessor *running) {
	defer close(r.ended)
	if predecessor != nil {
		<-predecessor.ended
	}
	wait := firstWait
	for ctx.Err() == nil {
		began := r.hub.Now()
		err := r.serve(ctx)
		if ctx.Err() != nil {
			return
		}
		if r.hub.Now().Sub(began) >= settled {
			wait = firstWait
		}
		said := r.hide(err.Error())
		r.set(Waiting, nil, said, r.hub.Now().Add(wait))
		r.hub.Log.Warn("mcp server failed, trying again", "server", r.Name, "err", said, "in", wait.String())
		if r.hub.Sleep(ctx, wait) != nil {
			return
		}
		wait = min(2*wait, lastWait)
		r.set(Starting, nil, said, time.Time{})
	}
}

// serve is one life of the server: it connects, offers its tools, and returns
// when the server has gone.
func (r *running) serve(ctx context.Context) error {
	var last tail
	changed := make(chan struct{}, 1)
	client := sdk.NewClient(&sdk.Implementation{Name: "standin", Version: r.hub.Version}, &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			select {
			case changed <- struct{}{}:
			default: // one look takes in all changes
			}
		},
		KeepAlive: time.Minute,
	})
	starting, cancel := context.WithTimeout(ctx, limit(r.Start, defaultStart))
	defer cancel()
	session, err := client.Connect(starting, r.transport(r.hub.Environ, &last), nil)
	if err != nil {
		return last.explain("it did not start", err)
	}
	defer func() { _ = session.Close() }()
	gone := make(chan error, 1)
	go func() { gone <- session.Wait() }()
	if err := r.list(starting, session); err != nil {
		return last.explain("it does not tell its tools", err)
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-gone:
			if err == nil {
				err = errors.New("it has ended")
			}
			return last.explain("it has gone", err)
		case <-changed:
			if err := r.list(ctx, session); err != nil {
				return last.explain("it does not tell its tools", err)
			}
		}
	}
}

// list takes in what the server offers.
func (r *running) list(ctx context.Context, session *sdk.ClientSession) error {
	var all []tools.Tool
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		tool, ok := r.tool(session, t)
		if ok && slices.ContainsFunc(all, func(other tools.Tool) bool { return other.Name == tool.Name }) {
			// Vendors refuse a whole request in which two tools have one name.
			r.hub.Log.Warn("a tool of an mcp server is left out: another one of it has the same name here", "server", r.Name, "tool", t.Name, "name", tool.Name)
			continue
		}
		if ok {
			all = append(all, tool)
		}
	}
	r.set(Ready, all, "", time.Time{})
	r.hub.Log.Info("mcp server ready", "server", r.Name, "tools", len(all))
	return nil
}

func (r *running) set(s State, offered []tools.Tool, err string, next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.since, r.tools, r.err, r.next = s, r.hub.Now(), offered, err, next
}

func (r *running) offered() []tools.Tool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tools
}

func (r *running) standing() Standing {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Standing{Name: r.Name, State: r.state, Since: r.since, Next: r.next, Tools: len(r.tools), Error: r.err}
}

func limit(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// tail keeps the end of what a program writes to its standard error: it usually
// says there why it fails.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if n := len(t.text) - tailBytes; n > 0 {
		t.text = t.text[n:]
	}
	return len(p), nil
}

// explain words a failure, with the program's own last line.
func (t *tail) explain(what string, err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(t.text), "")), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return fmt.Errorf("%s: %w (it says: %s)", what, err, last)
	}
	return fmt.Errorf("%s: %w", what, err)
}
