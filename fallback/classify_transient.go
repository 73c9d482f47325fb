package fallback

import "standin/fallback/provider"

// Transient faults of servers and lines, and faults of the request itself.

var (
	// structuredServer is a server error that its vendor says by type (5.D 11).
	structuredServer = some(code("server_error upstream_error"))

	// serverWords is the server-error family; it gives timeout (5.D 19).
	serverWords = some(
		statedInternal,
		say(
			"an error occurred while processing",
			"internal_error", "server_error", "service_unavailable",
			"service temporarily unavailable", "service is temporarily unavailable", "temporarily unavailable",
			"bad gateway", "gateway timeout|timeouts",
			"upstream error", "upstream connect error",
			"connection reset",
			"内部错误", "服务器错误", "系统错误", "系统繁忙", "系统异常",
		),
		say( // vendors' error documents
			"server had an error",                                                                                            // OpenAI
			"internalserverexception", "internalservererror~", "internalfailure", "internal failure", "internalserviceerror", // AWS, Volcengine
			"modelerrorexception", "modelstreamerrorexception", "serviceunavailable~", "modeltimeoutexception", // Bedrock
			"server is temporarily unable", "unable to handle the request",
			"服务器繁忙", "服务异常", "服务器异常",
		),
		number(408, 499, 500, 502, 503, 504, 520, 521, 522, 523, 524), httpServer,
		from("minimax", code("1000 1001 1013 1024 1033")),
		from(zaiNames, code("500 1120 1200 1230 1234")),
	)

	// apiError is Anthropic's catch-all type with a wording that passes (5.D 20).
	apiError = all(
		code("api_error"),
		say(
			"internal server error", "overload~", "temporarily unavailable", "service unavailable", "unknown error", "server error",
			"bad gateway", "gateway timeout", "upstream error", "backend error", "try again", "unexpected error", "internal error",
		))

	// requestWords is the format family (5.D 21): the same request would fail
	// again.
	requestWords = say(
		"string should match pattern",
		"tool_use.id", "tool use id", "tool_use_id",
		"invalid request format",
		"tool call id was .. must be",
		"does not support assistant message prefill", "doesnt support assistant message prefill",
		"conversation must end with a user message",
		"agent harness .. does not support .. provider is not one of",
		"not supported for tool calling", // V12
	)

	// timeoutWords is the timeout family (5.D 23): nothing came, or not in time.
	timeoutWords = some(
		say(
			"~timeout~", "timed out", "time out",
			"service unavailable",
			"deadline exceeded|expired",
			"connection error", "network error", "network request failed", "fetch failed",
			"without sending .. chunk|chunks",
			"reason: abort|aborted|error|network|malformed",
			"operation was aborted", "request was aborted",
			"stream closed|aborted", "stream was closed|aborted",
			"^ terminated $$", "stream_read_error", "^ request failed $$", "^ llm request failed $$",
			"^ an unknown error occurred $$",
			"und err", "request failed after repeated internal retries",
			"网络错误", "网络异常", "服务暂时不可用", "服务繁忙", "请求超时", "连接超时", "连接错误", "超时",
		),
		lineBroken,
		streamCut,
		say("i/o timeout", "error decoding response body", "error sending request for url", // Go; reqwest
			"context canceled|cancelled", "connection closed", "server disconnected", "peer closed connection", "connection was closed|lost|aborted|dropped"),
		all(say("status: internal $"), number(500)), // Google: INTERNAL with code 500
	)

	// streamCut is a stream that ends before its last event, in the words of
	// providers (V8): "disconnected" alone may be said of anything.
	streamCut = say(
		"stream|response|connection|websocket .. disconnected|ended|closed|cut|terminated|interrupted|dropped|truncated|stopped|broke|finished before .. "+
			"completion|complete|completed|final|finish|finishing|done|message|response|terminal|event|events|stop|chunk|chunks|end|eof|receiving",
		"stream|response ended|closed|stopped|terminated|disconnected|cut|interrupted without|prematurely|unexpectedly|early|off",
		"stream|response was cut|interrupted|truncated|terminated|closed",
		"stream|response .. ended without",
		"premature close|end", "err stream premature close", "incomplete stream|chunked", "incomplete response received",
		"unexpected eof", "unexpected end of stream",
		"stream|response .. without .. final|terminal|completion|finish|done|stop event|reason|marker|message|chunk",
		"final|terminal|completion event was never|not received",
	)
)

// statedInternal is "internal server error", except as the prose fragment
// "status: internal server error" beside which no 500 stands and something else
// is said (5.D, Server error).
func statedInternal(e *facts, t *text) string {
	if w := internalServer(e, t); w == "" || internalAlone(e, t) != "" || number(500)(e, t) != "" {
		return w
	}
	internal := hash("internal")
	for i := range t.words {
		if t.words[i].key == internal && (i == 0 || t.word(i-1) != "status" || t.words[i].before != glueColon) {
			return "internal server error"
		}
	}
	return ""
}

// httpServer is "HTTP 5xx" anywhere (5.D, Server error).
func httpServer(_ *facts, t *text) string {
	for i := 1; i < len(t.words); i++ {
		if n := t.status(i); n >= 500 && t.word(i-1) == "http" {
			return "HTTP " + itoa(n)
		}
	}
	return ""
}

var (
	internalServer = say("internal server error")
	internalAlone  = say("^ status: internal server error $$")
)

// lineFaults are the words for a connection that failed below HTTP, and which
// failure each is: they do not cool a profile [D13a].
var lineFaults = []struct {
	transport provider.Transport
	when      clue
}{
	{provider.DNSFailed, say("enotfound", "eai again", "getaddrinfo", "no such host", "name or service not known", "temporary failure in name resolution")},
	{provider.Refused, say("econnrefused", "connection refused", "ehostunreach", "enetunreach", "ehostdown", "network is unreachable", "no route to host", "connect: host|network")},
	{provider.Reset, say("econnreset", "econnaborted", "enetreset", "epipe", "broken pipe", "connection reset", "socket hang up", "und_err_socket", "und err socket")},
	{provider.ConnectTimeout, say("etimedout", "esockettimedout", "und err connect timeout", "connect timeout", "tls handshake timeout")},
}

// lineBroken is any of them.
func lineBroken(e *facts, t *text) string {
	for _, f := range lineFaults {
		if w := f.when(e, t); w != "" {
			return w
		}
	}
	return ""
}

// lineCodes are the same as bare error codes (5.E, V6).
var lineCodes = map[string]provider.Transport{
	"etimedout": provider.ConnectTimeout, "esockettimedout": provider.ConnectTimeout,
	"econnreset": provider.Reset, "econnaborted": provider.Reset, "enetreset": provider.Reset, "epipe": provider.Reset,
	"econnrefused": provider.Refused, "enetunreach": provider.Refused, "ehostunreach": provider.Refused, "ehostdown": provider.Refused,
	"eai_again": provider.DNSFailed, "enotfound": provider.DNSFailed,
	"err_stream_premature_close": provider.EOF,
}

// codeReasons are the codes of failover.md 5.E, compared without case.
var codeReasons = map[string]Reason{
	"resource_exhausted": RateLimit, "rate_limit": RateLimit, "rate_limited": RateLimit, "rate_limit_exceeded": RateLimit,
	"too_many_requests": RateLimit, "throttled": RateLimit, "throttling": RateLimit, "throttlingexception": RateLimit,
	"throttling_exception": RateLimit, "overloaded": Overloaded, "overloaded_error": Overloaded,
}

// transportOf is what broke below HTTP: what was seen, or what the words of a
// failure without any answer name.
func (e *facts) transportOf(v verdict) provider.Transport {
	if e.transportSeen != provider.NoTransport || v.reason != Timeout || e.answered || e.status != 0 {
		return e.transportSeen
	}
	if t := lineCodes[e.code]; t != provider.NoTransport {
		return t
	}
	for _, f := range lineFaults {
		for _, t := range []*text{e.message, e.details, e.typed} {
			if !t.empty() && f.when(e, t) != "" {
				return f.transport
			}
		}
	}
	return provider.NoTransport
}
