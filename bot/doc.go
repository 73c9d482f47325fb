// Package bot runs turns: it takes what people say on a surface, has a model
// answer it, and sees to it that exactly one ending reaches them [I1]. Which
// model answers is decided in package fallback; how a surface posts is known in
// the packages under channels; rows are kept by package store.
//
// # The way of one message
//
// A channel hands an Inbound to Receive (entrance.go). On a channel with rules
// of its own the door is asked first, by the deciders of package bot/policy: who
// may speak, what counts as addressed, which agent and session it is about. What
// comes in becomes an inbox row, and from that moment it is owed an ending; only
// then does the platform get its acknowledgement. What is turned away gets a row
// without text or session, and its ending at once. A message that the platform
// delivers twice finds its row and is dropped.
//
// sort (sort.go) says what the message is: talk between other people, a
// command, or something to answer. A command (commands.go and its sisters) is
// answered inside Receive, never behind a running turn: its change and its
// answer are one transaction, so the next message already reads the new row.
//
// Anything else may be held for a moment, in case its sender is not done yet
// (debounce.go), and then waits as its session's queue mode says (queue.go) in
// the session's lane (lanes.go): one turn at a time for each session, at most
// Config.MaxConcurrent over all of them. turn (turn.go) takes a snapshot of the
// configuration, gathers the history, asks the engine and turns what comes back
// into an Ending: the answer with a notice in front of it when the model changed,
// or a sentence on what failed (wording.go).
//
// end (ending.go) writes that Ending in one transaction: the inbox row's fate,
// the transcript, what the room was told, and the rows to be posted. From there
// the outbox (deliver.go) takes over: it claims a row, sends it, and marks what
// became of it, in order for each address. A send that may have been posted is
// looked up before it is tried again [I2].
//
// Start runs the same code on what a former process left behind: messages
// without an ending are sorted as if they had just come, and the outbox goes on
// with its rows. There is no second way for recovery.
//
// # Three reasons to stop
//
// A turn's context ends for one cause: ErrAborted (its user said stop: the
// message ends in silence), ErrShutdown (the daemon leaves: the message keeps
// its row and runs again at the next start), or the run's own deadline, which
// the engine keeps (the message ends with a failure line) [I13].
package bot
