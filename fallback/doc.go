// Package fallback is the rule book: which model answers a turn, with which
// credential, and what happens when it does not.
//
// There is one file per heading of the rules. Files decide in values and take
// now; only run*.go act, and they alone import context.
//
//	model.go      names: Model, ids, references
//	config.go     the settings of this room, compiled
//	reference.go  what a reference means under this config [C7–C9]
//	selection.go  the stored choice of a session
//	resolve.go    what that choice permits, and how a person changes it [M4–M10]
//	nearest.go    what a slip of the pen may have meant
//	chain.go      the list of candidates [M27]
//	profiles.go   order and eligibility of credentials [M16, M17, M19]
//	rotation.go   which credential a session keeps to, and the next one [M18, M25]
//	cooldown.go   windows, the ladder, billing and permanent auth [M20–M24]
//	penalty.go    which failures reach a credential at all (7.12)
//	unavailable.go  why nothing can be used, what a failure opened (7.16)
//	usagestats.go the routing state under the rule book's names (7.1)
//	classify.go   what a failure means [M20, M24–M26]
//	advance.go    skip, probe or try a candidate; go on or stop [M25, M28, M29]
//	probe.go      the five-minute look at the primary [M11]
//	skipcache.go  refused fallbacks that are passed over for a while [M12]
//	notice.go     the two lines a room reads [M13]
//	summary.go    when nothing answered [M33]
//	cause.go      which sentence a failure gets (18.3)
//	decision.go   attempts and the decision record [M32]
//	book.go       writes the records of one run, holds back repeated ones (20)
//	explain.go    what a run would do, decided and not done
//	run.go        one ask, answered: what is stored, the plan [M1–M3]; run_walk.go
//	              walks the chain, run_candidate.go makes the calls of one
//	              candidate, run_write.go keeps the session's row [I5],
//	              run_switch.go follows what a person chooses meanwhile (17),
//	              run_record.go writes it all down
package fallback
