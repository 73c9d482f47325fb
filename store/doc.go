// Package store is what survives: SQLite files under the state directory
// [C5, D15]. It keeps rows and knows no rule of failover; rules are in package
// fallback, the life of a message in package bot.
//
//	open.go         the state directory: Open, OpenReadOnly, Close
//	lock.go         one daemon per state directory
//	file.go         one SQLite file: opening, reading, closing
//	write.go        its one writer: transactions, waiting, bounds
//	inspect.go      what a file is, looked at before it is touched
//	migrate.go      schema.sql for a fresh file, migrations/ for an older one
//	trouble.go      SQLite's errors in words that name the file and the mend
//	sessions.go     session rows            selection.go  the stored choice [M3]
//	people.go       who asked to be let in [P1]   facts.go  what busy platforms say
//	beside.go       writing beside the owner
//	transcript.go   what was said           inbox.go      what is owed an ending [I1]
//	ending.go       the end of a turn, one transaction
//	outbox.go       what is owed to a room [I2]
//	journal.go      the steps of the runs [I10]
//	agents.go       a file per agent        credentials.go  what is in it [M15]
//	usage.go        the routing state of credentials [M23]
//	takein.go       what older files bring  openclaw.go     OpenClaw's own database
//	owner.go        who runs on a directory, and how to look at one without a trace
//	people.go       who was let in [P1, P2], what a room said unasked [S18]
//	facts.go        what few messages and posts have, in one column
//	heartbeats.go   what a heartbeat must know of the last one
//	upkeep.go       retention, backup, numbers for people
//	copy.go         a copy of it all        throwaway.go  a store that nobody needs later
//
// Times of rows enter as arguments and are kept in milliseconds: no clock of
// this package or of SQL dates a row, one only bounds how long a write waits for
// its turn. Writes go through one connection in short
// immediate transactions, reads through others that WAL keeps out of their way.
package store
