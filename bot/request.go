package bot

import (
	"standin/bot/policy"
)

// request is what one turn answers: a message, or several that belong together.
// Of several the last one is answered; the others end as it does.
type request struct {
	row     Accepted
	text    string     // what the model is asked; a command may have been cut off in front
	noProbe bool       // a message itself chose a model [T13]
	with    []Accepted // the other messages
	missed  []string   // of those, what did not fit the queue and is told in a line each [S25]
	batch   bool       // they were written one shortly after the other [N29]
	waited  bool       // its session was busy when it came
	draft   *growing   // what its turn has shown, once it shows anything
	compact *string    // it is a /compact, with what the summary is to look at; answered alone
	own     own        // what the message asks for itself
	ambient bool       // nobody expects an answer: a room's event [S36]
}

// join takes a later request into this one.
func (r *request) join(later request) {
	r.with = append(append(r.with, r.row), later.with...)
	r.row = later.row
	r.text = policy.Joined([]string{r.text, later.text})
	r.noProbe = r.noProbe || later.noProbe
	r.own = r.own.over(later.own)
	r.ambient = r.ambient && later.ambient
	r.missed = append(r.missed, later.missed...)
}

// recall takes an earlier request that fell out of the queue along in short.
func (r *request) recall(earlier request) {
	r.with = append(earlier.rows(), r.with...)
	r.missed = append(append(earlier.missed, earlier.text), r.missed...)
}

// rows are all messages of the request, the answered one last.
func (r *request) rows() []Accepted {
	return append(append([]Accepted(nil), r.with...), r.row)
}

// ids are the inbox rows of the request.
func (r *request) ids() (ids []int64) {
	for _, row := range r.rows() {
		ids = append(ids, row.ID)
	}
	return ids
}

// prompt is what the model is asked, what was missed in front.
func (r *request) prompt() string {
	if summary := policy.Summary(r.missed); summary != "" {
		return summary + "\n\n" + r.text
	}
	return r.text
}
