package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"standin/cmd/standin/takeover"
)

// SocketFile is where the running daemon tells its state to people who may read
// the state folder. It answers only while the daemon runs: nothing that is told
// there is ever old.
const SocketFile = "standin.sock"

// Report is how one account of a platform is, as `standin channels status` reads
// it.
type Report struct {
	Channel   string     `json:"channel"`
	Account   string     `json:"account"`
	State     string     `json:"state"`
	Since     time.Time  `json:"since"`
	LastEvent *time.Time `json:"lastEvent,omitempty"`
	Attempt   int        `json:"attempt,omitempty"`
	Reason    string     `json:"reason,omitempty"`
	Mend      string     `json:"mend,omitempty"`
}

func reportOf(all []standing) []Report {
	list := []Report{}
	for _, s := range all {
		r := Report{Channel: s.Channel, Account: s.Account, State: string(s.State), Since: s.Since, Attempt: s.Attempt, Reason: s.Reason, Mend: s.Mend}
		if r.Account == "" {
			r.Account = "default"
		}
		if !s.LastEvent.IsZero() {
			r.LastEvent = &s.LastEvent
		}
		list = append(list, r)
	}
	return list
}

// AskStatus asks the daemon that runs on the state folder dir how its channels
// are. The error says that none answers, or not with a list.
func AskStatus(ctx context.Context, dir string) (list []Report, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, SocketFile))
	}}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://standin/channels", nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, unheard(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it says %s", answer.Status)
	}
	return list, json.NewDecoder(answer.Body).Decode(&list)
}

// unheard says in plain words why nobody answers at the socket of a state folder.
func unheard(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("none was started on it, or it ended")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("the one that ran on it ended without a farewell")
	}
	return err
}

// olderWait tells whether one of the files that waited at the start is still
// there: standin doctor --fix puts them away beside a running daemon.
func (a *App) olderWait() bool {
	return slices.ContainsFunc(a.older, func(s takeover.Source) bool {
		_, err := os.Lstat(s.Path)
		return err == nil && s.Kind != "" // a database of OpenClaw's is no file that is put away
	})
}
