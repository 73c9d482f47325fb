package providertest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"standin/fallback/provider"
)

// Act is what a vendor does with one request.
type Act struct {
	status  int
	header  http.Header
	body    string // of an answer that is not in the protocol
	raw     bool   // body is sent as it is
	text    string
	calls   []provider.ToolCall
	fault   string // envelope of an error inside the stream
	latency time.Duration
	pace    time.Duration

	network provider.Transport // broken before any answer
	ending  ending
}

// ending is how an answer stops.
type ending int

const (
	whole     ending = iota // as the protocol asks
	broken                  // the connection breaks
	cutClean                // the body ends without the last event
	stalled                 // nothing more comes
	lingering               // complete, but the connection stays open
	silent                  // no answer at all
	unconnected
)

// Answer is a plain success, streamed when the request asks for it.
func Answer(text string) Act { return Act{status: 200, text: text} }

// Calls says text, "" for none, and asks for tools. An id that is "" is made up
// in the vendor's way.
func Calls(text string, calls ...provider.ToolCall) Act {
	return Act{status: 200, text: text, calls: calls}
}

// Empty is a well-formed answer that says nothing.
func Empty() Act { return Act{status: 200} }

// Raw answers with a body as it is, under any content type.
func Raw(status int, contentType, body string) Act {
	return Act{status: status, raw: true, body: body, header: http.Header{"Content-Type": {contentType}}}
}

// Status answers with an HTTP failure. header holds pairs of name and value.
func Status(status int, body string, header ...string) Act {
	a := Raw(status, "application/json", body)
	for i := 0; i+1 < len(header); i += 2 {
		a.header.Set(header[i], header[i+1])
	}
	return a
}

// StreamBreak says a part of an answer, then the connection breaks.
func StreamBreak(partial string) Act { return Act{status: 200, text: partial, ending: broken} }

// StreamCut says a part of an answer, then the body ends cleanly, without the
// protocol's last event.
func StreamCut(partial string) Act { return Act{status: 200, text: partial, ending: cutClean} }

// StreamError says a part of an answer, then reports an error inside the
// stream. envelope is the vendor's body; a request that is not streamed gets
// it as the whole body of a 200.
func StreamError(partial, envelope string) Act {
	return Act{status: 200, text: partial, fault: envelope}
}

// Stall says a part of an answer, then nothing more.
func Stall(partial string) Act { return Act{status: 200, text: partial, ending: stalled} }

// Linger answers completely but keeps the connection open.
func Linger(text string) Act { return Act{status: 200, text: text, ending: lingering} }

// Hang takes the request and never answers.
func Hang() Act { return Act{ending: silent} }

// HangConnect never lets a connection come up. A Handler hangs instead.
func HangConnect() Act { return Act{ending: unconnected} }

// Network breaks the connection before any answer: DNSFailed, Refused, Reset,
// EOF or TLSFailed. A Handler, which has accepted the connection already,
// resets it.
func Network(t provider.Transport) Act { return Act{network: t} }

// After lets time pass before the act.
func (a Act) After(d time.Duration) Act { a.latency = d; return a }

// ThenHang keeps the body open after what the act says.
func (a Act) ThenHang() Act { a.ending = stalled; return a }

// ThenBreak breaks the connection after what the act says.
func (a Act) ThenBreak() Act { a.ending = broken; return a }

// Pace lets time pass before each piece of a streamed text.
func (a Act) Pace(d time.Duration) Act { a.pace = d; return a }

// frame is one step of a body.
type frame struct {
	wait time.Duration
	data string
	err  error // ends the body
	hang bool  // nothing comes any more
}

// frames words an act for a request.
func (a Act) frames(d dialect) (header http.Header, body []frame) {
	header = http.Header{"Content-Type": {"application/json"}}
	if d.req.API == provider.AnthropicMessages {
		header.Set("Request-Id", "req_"+pad(d.id))
	} else {
		header.Set("X-Request-Id", "req_"+pad(d.id))
	}
	if a.raw {
		for name, values := range a.header {
			header[name] = values
		}
		body = []frame{{data: a.body}}
		switch a.ending {
		case stalled:
			body = append(body, frame{hang: true})
		case broken:
			body = append(body, frame{err: io.ErrUnexpectedEOF})
		}
		return header, body
	}
	if !d.req.Stream {
		return header, a.plain(d)
	}
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	body = append(body, frame{data: d.open()})
	if a.text != "" {
		for _, piece := range pieces(a.text) {
			body = append(body, frame{wait: a.pace, data: d.delta(piece)})
		}
	}
	switch {
	case a.fault != "":
		return header, append(body, frame{data: d.fault(a.fault)})
	case a.ending == broken:
		return header, append(body, frame{err: io.ErrUnexpectedEOF})
	case a.ending == cutClean:
		return header, body
	case a.ending == stalled:
		return header, append(body, frame{hang: true})
	}
	body = append(body, frame{data: d.close(a.text, a.calls)})
	if a.ending == lingering {
		body = append(body, frame{hang: true})
	}
	return header, body
}

func (a Act) plain(d dialect) []frame {
	text := d.whole(a.text, a.calls)
	half := frame{data: text[:len(text)/2]}
	switch {
	case a.fault != "":
		return []frame{{data: a.fault}}
	case a.ending == broken:
		return []frame{half, {err: io.ErrUnexpectedEOF}}
	case a.ending == cutClean:
		return []frame{half}
	case a.ending == stalled:
		return []frame{half, {hang: true}}
	}
	return []frame{{data: text}}
}

// networkError makes the error that net/http would give.
func networkError(t provider.Transport, host string) error {
	switch t {
	case provider.DNSFailed:
		return &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}}
	case provider.Refused:
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	case provider.Reset:
		return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	case provider.TLSFailed:
		return &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}
	case provider.EOF:
		return io.EOF
	}
	return errors.New("network failure: " + string(t))
}
