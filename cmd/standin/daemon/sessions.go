package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"standin/bot"
	"standin/fallback"
	"standin/store"
)

// SessionAsk is what `standin sessions` asks of a running daemon [C16].
type SessionAsk struct {
	Key   fallback.SessionID `json:"key"`
	Model *string            `json:"model,omitempty"`
	Send  *string            `json:"sendPolicy,omitempty"`
	Queue *string            `json:"queue,omitempty"`
	Set   []bot.Setting      `json:"set,omitempty"`
}

// SessionAct is what is done to a session.
type SessionAct string

// The acts.
const (
	PatchSession  SessionAct = "patch"
	ResetSession  SessionAct = "reset"
	DeleteSession SessionAct = "delete"
)

// byHand names who uses the command line, in the record.
const byHand = "the command line"

// ActOnSession does it, in a daemon or, with a bot.Desk, beside none.
func ActOnSession(ctx context.Context, b *bot.Bot, db *store.DB, act SessionAct, ask SessionAsk, now time.Time) error {
	sess, err := db.Session(ctx, ask.Key)
	switch {
	case err != nil:
		return err
	case sess.Epoch == "":
		return bot.ErrNoSession(ask.Key)
	case act == PatchSession:
		return b.Adjust(ctx, ask.Key, bot.Adjustment{Who: byHand, Model: ask.Model, Send: ask.Send, Queue: ask.Queue, Set: ask.Set})
	case act == ResetSession:
		return b.ResetBy(ctx, byHand, ask.Key)
	}
	if main := fallback.SessionID("agent:" + string(sess.Agent) + ":main"); ask.Key == main {
		return fmt.Errorf("%s is the agent's main session, which is not deleted; standin sessions reset begins it anew", ask.Key)
	}
	if b.Busy(ask.Key) {
		return errBusy(ask.Key)
	}
	gone, err := db.Forget(ctx, ask.Key, now)
	if err == nil && !gone {
		err = errBusy(ask.Key)
	}
	return err
}

func errBusy(s fallback.SessionID) error {
	return fmt.Errorf("a message in %s is being answered or waits for it; try again when it is, or /stop it first", s)
}

// sessionRoutes are what the socket in the state folder does to sessions.
func sessionRoutes(mux *http.ServeMux, b *bot.Bot, db *store.DB, now func() time.Time) {
	if b == nil {
		return
	}
	for _, act := range []SessionAct{PatchSession, ResetSession, DeleteSession} {
		mux.HandleFunc("POST /sessions/"+string(act), func(w http.ResponseWriter, r *http.Request) {
			var ask SessionAsk
			if err := json.NewDecoder(io.LimitReader(r.Body, 64<<10)).Decode(&ask); err != nil || ask.Key == "" {
				answerJSON(w, http.StatusBadRequest, JobAnswer{Error: "the request names no session"})
				return
			}
			err := ActOnSession(r.Context(), b, db, act, ask, now())
			var none bot.ErrNoSession
			switch {
			case errors.As(err, &none):
				answerJSON(w, http.StatusNotFound, JobAnswer{Error: err.Error()})
			case err != nil:
				answerJSON(w, http.StatusConflict, JobAnswer{Error: err.Error()})
			default:
				answerJSON(w, http.StatusOK, struct{}{})
			}
		})
	}
}
