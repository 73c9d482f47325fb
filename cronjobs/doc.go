// Package cronjobs runs jobs: turns that a clock starts and nobody's message
// [C3]. It decides when a slot comes, which model a run asks first, what becomes
// of its answer and what follows a failure; the turn itself is package bot's.
//
//	job.go        what a job is, as people write it and as it is kept
//	validate.go   what is refused, with the mend    legacy.go  older spellings
//	expr.go       a cron expression (the home of robfig/cron)
//	zone.go       the same on the clocks of a time zone [D22]
//	schedule.go   slots: at, every, cron, stagger   describe.go in words
//	config.go     cron: in the config
//	rows.go       what is kept, and by whom
//	scheduler.go  the actor: wakes, claims, runs    run.go     one run
//	outcome.go    what follows an end: next time, retry, back-off [R41–R45]
//	missed.go     slots that passed while nobody looked [R57–R60, D17]
//	model.go      which model a run asks [R32–R36]  preflight.go local servers
//	target.go     where an answer goes              webhook.go posting to a URL
//	alert.go      telling people of failures        receipt.go what became of an answer
//	wording.go    every sentence
//	book.go       adding and editing jobs           explain.go a look ahead
//
// # The way of a slot
//
// The scheduler sleeps until the next job is due, a minute at most. A due job
// is claimed: one transaction moves its row to running and adds a row for the
// run, so that no other process takes the same slot. The run becomes a bot.Turn
// whose id is made of the job and the slot: the outbox takes such an answer
// once, however often the slot is run. When the turn has ended, a second
// transaction writes the run's end and the job's next time. What a crash leaves
// between the two is looked at with the next start: if the turn wrote its
// answer the run has ended well, otherwise it was interrupted [R57].
package cronjobs
