package providertest

import (
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"standin/fallback/provider"
)

// StageReply is what a vendor on the stage says to one request.
type StageReply struct {
	Text string
	// Calls ask for tools behind Text; an id that is "" is made up in the vendor's way.
	Calls []provider.ToolCall
	// Pace lets time pass before each word of a streamed text, and as long
	// altogether before one that is not streamed.
	Pace time.Duration
	// Status makes the answer a failure when it is 400 or more. Type and Code
	// default to what the vendor sends with that status.
	Status              int
	Type, Code, Message string
	// RetryAfter is sent in whole seconds, rounded up, when it is positive.
	RetryAfter time.Duration
	// Drop closes the connection after Text instead of ending the answer.
	Drop bool
}

// Stage plays two vendors from one function.
type Stage struct {
	// Answer decides what is said. It is called from many goroutines.
	Answer func(model string, messages []provider.Message) StageReply

	count atomic.Int64
}

// OpenAI plays a vendor of Chat Completions and Responses. The base URL of a
// server is its address and "/v1".
func (s *Stage) OpenAI() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.serve)
	mux.HandleFunc("POST /v1/responses", s.serve)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, provider.OpenAICompletions, 404, "invalid_request_error", "", "Invalid URL ("+r.Method+" "+r.URL.Path+")")
	})
	return mux
}

// Anthropic plays a vendor of Messages. The base URL of a server is its
// address.
func (s *Stage) Anthropic() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.serve)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, provider.AnthropicMessages, 404, "not_found_error", "", "Not found")
	})
	return mux
}

func (s *Stage) serve(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 32<<20))
	req, ok := readRequest(r, text)
	n := s.count.Add(1)
	if req.API == provider.AnthropicMessages {
		w.Header().Set("Request-Id", "req_stage"+strconv.FormatInt(n, 10))
	} else {
		w.Header().Set("X-Request-Id", "req_stage"+strconv.FormatInt(n, 10))
		w.Header().Set("Openai-Processing-Ms", "1")
	}
	switch {
	case err != nil:
		refuse(w, req.API, 413, "", "", "The request is too large.")
		return
	case !ok:
		refuse(w, req.API, 400, "", "", "We could not parse the JSON body of your request.")
		return
	case req.Key == "":
		refuse(w, req.API, 401, "", "", "You didn't provide an API key.")
		return
	}
	reply := s.Answer(req.Model, req.Messages)
	if reply.RetryAfter > 0 {
		seconds := (reply.RetryAfter + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	if reply.Status >= 400 {
		if pause(r.Context(), reply.Pace) != nil {
			return
		}
		refuse(w, req.API, reply.Status, reply.Type, reply.Code, reply.Message)
		return
	}
	act := Calls(reply.Text, reply.Calls...).Pace(reply.Pace)
	if reply.Drop {
		act.ending = broken
	}
	header, frames := act.frames(dialect{req: req, id: int(n), created: time.Now().Unix()})
	if !req.Stream {
		frames[0].wait = reply.Pace * time.Duration(len(pieces(reply.Text)))
	}
	for _, name := range []string{"Request-Id", "X-Request-Id"} {
		header.Del(name) // the stage has set its own
	}
	for name, values := range header {
		w.Header()[name] = values
	}
	w.WriteHeader(http.StatusOK)
	play(r.Context(), w, frames)
}

// refuse answers with a failure in the vendor's envelope.
func refuse(w http.ResponseWriter, api provider.API, status int, kind, code, message string) {
	usualKind, usualCode := standard(api, status)
	if kind == "" {
		kind = usualKind
		if code == "" {
			code = usualCode
		}
	}
	if message == "" {
		message = http.StatusText(status)
		if status == 529 { // Anthropic's own
			message = "Overloaded"
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, Envelope(provider.Endpoint{API: api}, status, kind, code, message)+"\n")
}
