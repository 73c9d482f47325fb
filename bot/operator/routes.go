package operator

import "net/http"

// route is one operation: its place in the contract, and what does it.
type route struct {
	method, path string // the path under /api/v1, but for rooted ones
	id, says     string
	query        []param
	body         any    // what is sent, by example; nil: nothing
	answer       any    // what is answered, by example; nil: see media
	media        string // of an answer that is no JSON
	status       int    // of success; 0: 200
	free         bool   // open to people who are not logged in
	rooted       bool   // the path is as it stands
	slow         bool   // it waits for a model
	do           func(*Server, *call) (any, error)
	serve        func(*Server, *call) // in place of do: it writes the answer itself
}

// param is one parameter of a query.
type param struct{ name, kind, says string }

// The parameters that several operations take.
var (
	ofAgent   = param{"agent", "string", "Only this agent."}
	forAgent  = param{"agent", "string", "The agent; absent: the default agent."}
	ofSession = param{"session", "string", "Only this session."}
	ofModel   = param{"model", "string", "Only this model, provider/model."}
	ofReason  = param{"reason", "string", "Only this class of failure, such as rate_limit."}
	from      = param{"from", "date-time", "Not before."}
	to        = param{"to", "date-time", "Before."}
	cursor    = param{"cursor", "string", "The next of the page before; absent: the first page."}
	limit     = param{"limit", "integer", "At most so many, 1 to 200. Default: 50."}
)

// routes is the whole API.
func routes() []route {
	get, post, put, patch, del := http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete
	return []route{
		{method: get, path: "/me", id: "me", do: (*Server).me, says: "Who is asking, and whether a token is needed.", answer: Me{}, free: true},
		{method: post, path: "/login", id: "login", serve: (*Server).login, says: "Come in with the token. A form or JSON; sets a cookie that scripts cannot read.", body: Login{}, answer: Me{}, free: true},
		{method: post, path: "/logout", id: "logout", do: (*Server).logout, says: "Forget the cookie.", answer: Me{}, free: true},
		{method: get, path: "/openapi.json", id: "contract", serve: (*Server).serveContract, says: "This document.", media: "application/json", free: true},

		{method: get, path: "/now", id: "now", do: (*Server).now, says: "What is going on at this moment.", answer: Now{}},
		{method: get, path: "/events", id: "events", serve: (*Server).events, says: "What happens, as it happens: server-sent events of the types decision, chat, changed, act and reset (events were lost: read all again). Each has an id; Last-Event-ID goes on behind it. The data is an Event.", media: "text/event-stream"},

		{method: get, path: "/sessions", id: "sessions", do: (*Server).sessions, says: "Sessions, the last spoken to first.", answer: Sessions{},
			query: []param{ofAgent, {"channel", "string", "Only those of this channel."}, {"state", "string", "standin: another model answers; chosen: a person chose the model; running: a turn runs."}, {"q", "string", "Part of the key."}, cursor, limit}},
		{method: get, path: "/sessions/{key}", id: "session", do: (*Server).session, says: "One session, with its last change of model told.", answer: SessionDetail{}},
		{method: patch, path: "/sessions/{key}", id: "chooseModel", do: (*Server).chooseModel, says: "Choose its model, as /model does.", body: ChooseModel{}, answer: Session{}},
		{method: post, path: "/sessions/{key}/reset", id: "resetSession", do: (*Server).resetSession, says: "Begin it anew, as /new does. The model that a person chose stays, unless the config says otherwise.", answer: Session{}},
		{method: del, path: "/sessions/{key}", id: "forgetSession", do: (*Server).forgetSession, says: "Forget it with its transcript and its choice. One that is being answered is a conflict.", answer: Done{}},
		{method: get, path: "/sessions/{key}/transcript", id: "transcript", do: (*Server).transcript, says: "What was said in it, the latest first.", answer: Transcript{}, query: []param{cursor, limit}},

		{method: get, path: "/decisions", id: "decisions", do: (*Server).decisions, says: "The steps of all runs, the latest first.", answer: Decisions{},
			query: []param{ofSession, {"run", "string", "Only this run."}, ofModel, ofReason, {"what", "string", "Only this kind of step."}, from, to, cursor, limit}},
		{method: get, path: "/runs", id: "runs", do: (*Server).runs, says: "Runs, the latest first.", answer: Runs{},
			query: []param{ofSession, ofAgent, {"kind", "string", "chat, cron, heartbeat, compaction or probe."}, {"model", "string", "Only those that this model answered."}, ofReason, {"outcome", "string", "answered, failed, changed or open."}, from, to, cursor, limit}},
		{method: get, path: "/runs/{id}", id: "run", do: (*Server).run, says: "One run with every attempt.", answer: RunDetail{}},
		{method: get, path: "/timeline", id: "timeline", do: (*Server).timeline, says: "Which model answered when, and each switch with its reason.", answer: Timeline{},
			query: []param{{"from", "date-time", "Default: a day before to."}, {"to", "date-time", "Default: now."}, ofAgent, ofSession}},
		{method: get, path: "/acts", id: "acts", do: (*Server).acts, says: "The changes that operators made here, the latest first.", answer: Acts{}, query: []param{cursor, limit}},

		{method: get, path: "/credentials", id: "credentials", do: (*Server).credentials, says: "The credentials of an agent, all but their secrets.", answer: Credentials{}, query: []param{forAgent}},
		{method: get, path: "/credentials/{id}", id: "credential", do: (*Server).credential, says: "One credential, with what was done to it by hand.", answer: credentialStory{}, query: []param{forAgent}},
		{method: post, path: "/credentials/{id}/clear", id: "clearCredential", do: (*Server).clearCredential, says: "End its windows: it is used again at once.", body: ForAgent{}, answer: CredentialChanged{}},
		{method: post, path: "/credentials/{id}/disable", id: "disableCredential", do: (*Server).disableCredential, says: "Switch it off until it is switched on again.", body: ForAgent{}, answer: CredentialChanged{}},
		{method: post, path: "/credentials/{id}/enable", id: "enableCredential", do: (*Server).enableCredential, says: "Switch it on again.", body: ForAgent{}, answer: CredentialChanged{}},
		{method: get, path: "/orders", id: "orders", do: (*Server).orders, says: "The orders in which credentials are tried.", answer: Orders{}, query: []param{forAgent}},
		{method: put, path: "/orders/{provider}", id: "setOrder", do: (*Server).setOrder, says: "Keep an order for a provider.", body: SetOrder{}, answer: Order{}},
		{method: del, path: "/orders/{provider}", id: "clearOrder", do: (*Server).clearOrder, says: "Keep none any more.", answer: Order{}, query: []param{forAgent}},

		{method: get, path: "/cron", id: "jobs", do: (*Server).jobs, says: "All jobs.", answer: Jobs{}},
		{method: post, path: "/cron", id: "addJob", do: (*Server).addJob, says: "Add a job; the body is a spec, see JobDetail.", body: jobSpec(nil), answer: JobDetail{}, status: http.StatusCreated},
		{method: get, path: "/cron/{id}", id: "job", do: (*Server).job, says: "One job: what it would do next, and why.", answer: JobDetail{}},
		{method: patch, path: "/cron/{id}", id: "editJob", do: (*Server).editJob, says: "Change a job; the body has the fields of its spec that change.", body: jobSpec(nil), answer: JobDetail{}},
		{method: del, path: "/cron/{id}", id: "removeJob", do: (*Server).removeJob, says: "Take a job away; its log stays.", answer: Done{}},
		{method: post, path: "/cron/{id}/enable", id: "enableJob", do: (*Server).enableJob, says: "Switch a job on.", answer: JobDetail{}},
		{method: post, path: "/cron/{id}/disable", id: "disableJob", do: (*Server).disableJob, says: "Switch a job off.", answer: JobDetail{}},
		{method: post, path: "/cron/{id}/run", id: "runJob", do: (*Server).runJob, says: "Run a job now.", body: RunJob{}, answer: JobAsked{}},
		{method: get, path: "/cron/{id}/runs", id: "jobRuns", do: (*Server).jobRuns, says: "Its log, the latest first: requested and used model, what was tried, what became of the answer.", answer: JobRuns{}, query: []param{cursor, limit}},
		{method: get, path: "/calendar", id: "calendar", do: (*Server).calendar, says: "When jobs and heartbeats fire; at most 500 of them and 62 days.", answer: Calendar{},
			query: []param{{"from", "date-time", "Default: now."}, {"to", "date-time", "Default: a week after from."}}},

		{method: get, path: "/heartbeats", id: "heartbeats", do: (*Server).heartbeats, says: "How the agents' heartbeats are.", answer: Heartbeats{}},
		{method: post, path: "/heartbeats/{agent}/run", id: "beat", do: (*Server).beat, slow: true, says: "Run one now and wait for it.", body: Beat{}, answer: Beaten{}},
		{method: post, path: "/heartbeats/{agent}/enable", id: "enableHeartbeat", do: (*Server).enableHeartbeat, says: "Let the schedule run again.", answer: Heartbeat{}},
		{method: post, path: "/heartbeats/{agent}/disable", id: "disableHeartbeat", do: (*Server).disableHeartbeat, says: "Stop the schedule until it is enabled, also over restarts.", answer: Heartbeat{}},

		{method: get, path: "/cost", id: "cost", do: (*Server).cost, says: "What calls have cost. 503 where costs are not kept.", answer: Cost{},
			query: []param{{"by", "string", "model (default), purpose, agent, day or job."}, {"from", "date-time", "Default: 30 days before to."}, {"to", "date-time", "Default: now."}}},
		{method: get, path: "/budgets", id: "budgets", do: (*Server).budgets, says: "The limits of what may be spent, and how far they are used.", answer: Budgets{}},

		{method: get, path: "/rehearse", id: "outages", do: (*Server).outages, says: "The outages that can be rehearsed.", answer: Outages{}},
		{method: post, path: "/rehearse", id: "rehearse", do: (*Server).rehearse, slow: true, says: "Play an outage by the running config on virtual time. Nobody is asked, nothing is written.", body: Rehearse{}, answer: Rehearsed{}},
		{method: get, path: "/explain", id: "explain", do: (*Server).explain, says: "What a message would do now, and why.", answer: Explained{},
			query: []param{{"session", "string", "Absent: the agent's direct chats."}, {"agent", "string", "Absent: the session's, or the default agent."}, {"model", "string", "A job's own model instead of a message."}, {"simulate", "string", "Let vendors fail, such as openai/*=429,anthropic/x=timeout."}}},

		{method: get, path: "/chat", id: "chat", do: (*Server).chat, says: "A chat of the operator with an agent, the latest messages in order.", answer: Chat{},
			query: []param{forAgent, {"chat", "string", "Absent: main."}, cursor, limit}},
		{method: post, path: "/chat", id: "say", do: (*Server).say, says: "Say something to an agent. The answer comes as events of type chat and stands in the chat.", body: ChatSay{}, answer: ChatTaken{}, status: http.StatusAccepted},

		{method: get, path: "/healthz", id: "alive", says: "200 while it works.", media: "text/plain", free: true, rooted: true},
		{method: get, path: "/readyz", id: "readiness", says: "200 while messages are taken; 503 while it starts or leaves.", media: "text/plain", free: true, rooted: true},
		{method: get, path: "/metrics", id: "metrics", serve: (*Server).serveMetrics, says: "Metrics for Prometheus.", media: "text/plain", rooted: true},
	}
}

// bearsToken is what the contract calls the way in.
const bearsToken = "token"
