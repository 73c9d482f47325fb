package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

// The demo's models. "staged" stands in every name: nobody is to think that a
// real vendor answered.
const (
	stagedPrimary = "staged-openai/gpt-5.5"
	stagedStandin = "staged-anthropic/claude-sonnet-5"
)

// outage is how long the staged primary is away after it first fails.
const outage = 5 * time.Minute

// demoPlay is the demo's stage script: the primary fails on the second message and
// is away for five minutes of the demo's time. It is kept in the state folder,
// so that a demo that is killed goes on where it was.
type demoPlay struct {
	file string
	real func() time.Time

	mu    sync.Mutex
	state playState
}

// playState is what the script remembers.
type playState struct {
	Skipped time.Duration `json:"skipped"` // how far /skip has put the demo's clock ahead
	Calls   int           `json:"calls"`   // turns that the primary was asked for
	Turn    string        `json:"turn"`    // the last of them
	Away    time.Time     `json:"away"`    // the primary is away until then
	Fail    bool          `json:"fail"`    // the model that is asked next fails
}

// openPlay takes up the script of a state folder, or starts a new one.
func openPlay(dir string, real func() time.Time) (*demoPlay, error) {
	p := &demoPlay{file: filepath.Join(dir, "demo.json"), real: real}
	data, err := os.ReadFile(p.file)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &p.state); err != nil {
		return nil, fmt.Errorf("%s: %w; delete it to start the demo over", p.file, err)
	}
	return p, nil
}

// Now is the demo's time: the real one and what /skip has added.
func (p *demoPlay) Now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nowLocked()
}

func (p *demoPlay) nowLocked() time.Time { return p.real().Add(p.state.Skipped) }

// farthest is how far /skip may put the demo's clock ahead, all in all: times
// beyond what a message id can hold would make the demo deaf for good.
const farthest = 366 * 24 * time.Hour

// errTooFar is Skip's refusal of what lies beyond farthest.
var errTooFar = errors.New("too far ahead")

// Skip lets the demo's time pass, or fails with errTooFar.
func (p *demoPlay) Skip(d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d > farthest-p.state.Skipped {
		return errTooFar
	}
	p.state.Skipped += d
	return p.saveLocked()
}

// Fail has whoever is asked next fail in the middle of the turn.
func (p *demoPlay) Fail() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.Fail = true
	return p.saveLocked()
}

func (p *demoPlay) saveLocked() error {
	data, err := json.Marshal(p.state)
	if err != nil {
		return err
	}
	tmp := p.file + ".new"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, p.file)
}

// pace is how fast the staged models talk.
const pace = 30 * time.Millisecond

// answer is what both staged models say, by their model id. A turn that fails does
// so in its middle: after what it has done with its tools.
func (p *demoPlay) answer(model string, talk []provider.Message) providertest.StageReply {
	t := readThread(talk)
	p.mu.Lock()
	defer p.mu.Unlock()
	now, standIn := p.nowLocked(), "staged-anthropic/"+model == stagedStandin
	call, said := t.mind()
	if !standIn && p.state.Turn != t.key() {
		p.state.Turn, p.state.Calls = t.key(), p.state.Calls+1
	}
	// The failure of the play itself comes before a tool that acts: after it nobody
	// would stand in, which is for /fail to show.
	staged := !standIn && p.state.Calls == 2 && p.state.Away.IsZero()
	if staged && call != nil && call.Name == "cron" {
		call = nil
	}
	fails := p.state.Fail || staged
	if fails && call == nil {
		p.state.Fail = false
		if !standIn && !now.Before(p.state.Away) {
			p.state.Away = now.Add(outage)
		}
	}
	if err := p.saveLocked(); err != nil {
		return providertest.StageReply{Status: 500, Type: "server_error", Message: "the demo's script could not be saved: " + err.Error()}
	}
	away := !standIn && now.Before(p.state.Away)
	switch {
	case fails && call == nil, away && !fails:
		return providertest.StageReply{Status: 503, Type: "server_error", Code: "overloaded", Message: "The model is overloaded (staged outage)"}
	case call != nil:
		return providertest.StageReply{Calls: []provider.ToolCall{*call}}
	case said == "":
		said = p.plainLocked(standIn, now, t.question)
	case standIn && now.Before(p.state.Away):
		said = "(the stand-in) " + said
	}
	return providertest.StageReply{Pace: pace, Text: said}
}

// plainLocked is what they say to what needs no tool.
func (p *demoPlay) plainLocked(standIn bool, now time.Time, heard string) string {
	if r := []rune(heard); len(r) > 60 {
		heard = string(r[:59]) + "…"
	}
	switch {
	case standIn && now.Before(p.state.Away):
		return fmt.Sprintf("This is the stand-in, %s. The primary is away, so I took “%s”; nothing was lost.\n"+
			"Ask for /status to see why. Type /skip 5m to let five minutes pass, then say something: the primary is looked at again and comes back.",
			stagedStandin, heard)
	case standIn: // asked although the primary is there
		return fmt.Sprintf("This is %s, as you chose with /model. I heard “%s”.\n/model default goes back to the primary.", stagedStandin, heard)
	case p.state.Away.IsZero():
		return fmt.Sprintf("This is the primary, %s. I heard “%s”.\nSay something else: on your second message I fail, as staged, and you will see who answers.",
			stagedPrimary, heard)
	}
	return fmt.Sprintf("This is the primary again, %s. I heard “%s”. The outage is over; /fail stages another.", stagedPrimary, heard)
}
