package cronjobs

import (
	"context"
	"errors"
	"time"

	"standin/bot"
	"standin/fallback"
)

// ErrNoJob says that there is no job with that id.
var ErrNoJob = errors.New("there is no such job")

// Change is what a look at a job comes to. The zero Change leaves all as it is.
type Change struct {
	Write  bool // the job as it was left by who looked
	Remove bool // the job goes
	Run    *Run // its row is made, or replaced
	// Posts are owed from the same moment on. At is that moment.
	Posts []Outbound
	At    time.Time
}

// Store keeps jobs and runs. All methods are safe for concurrent use.
type Store interface {
	// Jobs gives all jobs, in the order in which they were made.
	Jobs(ctx context.Context) ([]Job, error)
	// Job gives one job, or ErrNoJob.
	Job(ctx context.Context, id JobID) (Job, error)
	// AddJob keeps a new job.
	AddJob(ctx context.Context, j Job) error
	// ChangeJob has look decide on the job as it is now and writes what comes of
	// it, both in one transaction: nobody else changes the job in between. It
	// gives the job as it was left. ErrNoJob, or look's own error: nothing was
	// written.
	ChangeJob(ctx context.Context, id JobID, look func(j *Job) (Change, error)) (Job, error)

	// DueJobs gives at most limit jobs that are due and not running, the longest
	// due first.
	DueJobs(ctx context.Context, now time.Time, limit int) ([]Job, error)
	// NextDue tells when the next job that is not running is due; zero: never.
	NextDue(ctx context.Context) (time.Time, error)

	// PutRun makes or replaces a run's row alone.
	PutRun(ctx context.Context, r Run) error
	// Runs gives runs, the newest first.
	Runs(ctx context.Context, of RunsOf) ([]Run, error)
	// Left tells what a turn left in its session and the outbox.
	Left(ctx context.Context, s fallback.SessionID, turn string) (Left, error)
	// PruneRuns keeps the newest lines of a job's log.
	PruneRuns(ctx context.Context, id JobID, keep int) error
	// PruneSaid deletes what jobs' own sessions said before a time [R64].
	PruneSaid(ctx context.Context, before time.Time) (int64, error)

	// Session gives a session's row.
	Session(ctx context.Context, s fallback.SessionID) (bot.Session, error)
	// Selection gives a session's stored choice.
	Selection(ctx context.Context, s fallback.SessionID) (fallback.Selection, error)
}

// RunsOf says which runs are wanted.
type RunsOf struct {
	Job        JobID // "": of all jobs
	Run        RunID // "": all
	Unended    bool  // those without an end
	Delivering bool  // those whose result is still on its way
	Limit      int   // 0: all
}

// Left is what a turn left behind.
type Left struct {
	Posts []bot.Delivery // of the outbox, in order
	// Answered says that the turn's answer is in the transcript, even if nothing
	// was to be posted; Text is the answer and Model who gave it.
	Answered bool
	Text     string
	Model    fallback.Model
}

// Turner runs turns and has things said: *bot.Bot.
type Turner interface {
	Turn(ctx context.Context, t bot.Turn) (bot.Result, error)
	Note(ctx context.Context, e bot.SystemEvent) error
	Post(ctx context.Context, posts ...Outbound) error
}

// Waker has an agent look at what it was told: a heartbeat.
type Waker interface {
	// Wake runs the agent's heartbeat now, with its answer going to where the
	// agent was last spoken to, and waits for its end. busy says that a turn is in
	// the way. skipped says why it did not run, "" when it ran or was busy.
	Wake(ctx context.Context, a fallback.AgentID, why string) (busy bool, skipped string, err error)
	// Request has the next heartbeat run soon, whenever that can be.
	Request(a fallback.AgentID, why string)
}
