package provider

import (
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// pieced is a body that arrives in pieces of its own choice.
type pieced struct{ pieces []string }

func (p *pieced) Read(b []byte) (int, error) {
	if len(p.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.pieces[0])
	if p.pieces[0] = p.pieces[0][n:]; p.pieces[0] == "" {
		p.pieces = p.pieces[1:]
	}
	return n, nil
}

func (p *pieced) Close() error { return nil }

func TestATapeReadsTheSameHoweverAStreamIsCutIntoPieces(t *testing.T) {
	streams := []struct {
		api                  API
		body, finish, failed string
		done                 bool
	}{
		{OpenAICompletions, "data: {\"choices\":[{\"finish_reason\" : \"stop\"}]}\r\n\r\ndata: [DONE]\r\n\r\n", "stop", "", true},
		{OpenAICompletions, ": comment\n\ndata: {\"error\":{\"message\":\"no\"}}\n\n", "", `{"error":{"message":"no"}}`, false},
		{OpenAICompletions, `data: {"choices":[{"delta":{"content":"\"error\":{\"message\":1}"}}],"error":null}` + "\n\n", "", "", false},
		{OpenAIResponses, "data: {\"type\":\"response.completed\",\"response\":{}}\n\n", "", "", true},
		{OpenAIResponses, "event: response.failed\ndata: {\"response\":{\"error\":{\"code\":\"x\"}}}\n\n", "", `{"response":{"error":{"code":"x"}}}`, true},
		{AnthropicMessages, "event: message_delta\ndata: {\"delta\":{\"stop_reason\":\"end_turn\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", "end_turn", "", true},
		{AnthropicMessages, "event: message_start\ndata: {\"message\":{\"stop_reason\":null}}\n\n", "", "", false},
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(streams).Draw(t, "stream")
		var pieces []string
		for rest := s.body; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		tape := &tape{rc: &pieced{pieces}, api: s.api, sse: true}
		passed, err := io.ReadAll(tape)
		if err != nil || !strings.HasPrefix(s.body, string(passed)) {
			t.Fatalf("passed on %q, %v", passed, err)
		}
		if tape.finish != s.finish || string(tape.failed) != s.failed || tape.done != s.done {
			t.Fatalf("finish %q, failed %q, done %v", tape.finish, tape.failed, tape.done)
		}
	})
}

func TestNothingAfterTheLastEventIsPassedOn(t *testing.T) {
	tape := &tape{rc: &pieced{[]string{"data: [DONE]\n\n", "junk"}}, api: OpenAICompletions, sse: true}
	if got, err := io.ReadAll(tape); err != nil || string(got) != "data: [DONE]\n\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzErrorFrom(f *testing.F) {
	for _, body := range []string{
		"", "text", "<html><title>x</title>", `{"error":{"message":"m","type":"t","code":400}}`, `[{"error":{"code":429,"status":"S","details":[{}]}}]`,
		`{"detail":[{"loc":["a",1],"msg":"m"}]}`, `{"error":["x"]}`, `{"errors":["x"]}`, `{"response":{"error":{}}}`, `{"message":{"detail":{}}}`,
	} {
		f.Add(400, []byte(body))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		e := ErrorFrom("p", "m", status, nil, body)
		if len(e.Body) > MaxBody || len(e.Message) > maxMessage {
			t.Errorf("body %d, message %d bytes", len(e.Body), len(e.Message))
		}
		if utf8.Valid(body) && !utf8.ValidString(e.Message+e.Body) {
			t.Errorf("%q cut in the middle of a character", e.Message)
		}
		if Redact(e.Message) != e.Message {
			t.Errorf("message still shows a secret: %q", e.Message)
		}
	})
}
