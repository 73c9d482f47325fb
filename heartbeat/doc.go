// Package heartbeat has an agent look after things without being spoken to:
// every so often, or when something happened, it gets a turn of its own, and
// what it has to say is posted, unless that is nothing.
//
//	config.go    one agent's settings, and who has a heartbeat at all [H2, D19]
//	slots.go     when it beats: a grid of its own, active hours [H3, H11]
//	hours.go     active hours
//	file.go      HEARTBEAT.md: whether there is anything to do, tasks [H9]
//	prompt.go    what the agent is asked [H6, H10]
//	decide.go    whether a beat may run now, or why not [H12]
//	place.go     where its answer goes, and what may be seen there [H4, H5, H14]
//	judge.go     what becomes of an answer [H7, H8]
//	wake.go      wakes: what they merge into and how close they may come [H13]
//	row.go       what is kept between beats
//	runner.go    the actor: waits for slots and wakes
//	beat.go      the actor: one beat
//	forecast.go  what the schedule costs, for people
//
// The rules of which model answers are package fallback's, as for any turn; a
// beat never writes a session's selection, except for the clearing rule [M7, I6].
package heartbeat
