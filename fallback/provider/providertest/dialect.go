package providertest

import (
	"encoding/json"
	"fmt"
	"strings"

	"standin/fallback/provider"
)

// dialect words one answer in the protocol of its request.
type dialect struct {
	req     Request
	id      int   // number of the answer, for the ids in it
	created int64 // unix seconds
}

// quote words a string as JSON.
func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// event words one server-sent event; OpenAI's chat has no event names.
func event(name, data string) string {
	if name == "" {
		return "data: " + data + "\n\n"
	}
	return "event: " + name + "\ndata: " + data + "\n\n"
}

func (d dialect) chunk(delta, finish string) string {
	return event("", fmt.Sprintf(
		`{"id":"chatcmpl-%08d","object":"chat.completion.chunk","created":%d,"model":%s,"system_fingerprint":"fp_standin","choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":%s}]}`,
		d.id, d.created, quote(d.req.Model), delta, finish))
}

// open starts a stream.
func (d dialect) open() string {
	model := quote(d.req.Model)
	switch d.req.API {
	case provider.AnthropicMessages:
		return event("message_start", fmt.Sprintf(
			`{"type":"message_start","message":{"id":"msg_%08d","type":"message","role":"assistant","model":%s,"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}`,
			d.id, model, d.req.tokens())) +
			event("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`) +
			event("ping", `{"type":"ping"}`)
	case provider.OpenAIResponses:
		started := fmt.Sprintf(`{"id":"resp_%08d","object":"response","created_at":%d,"status":"in_progress","error":null,"incomplete_details":null,"model":%s,"output":[]}`, d.id, d.created, model)
		return event("response.created", `{"type":"response.created","sequence_number":0,"response":`+started+`}`) +
			event("response.in_progress", `{"type":"response.in_progress","sequence_number":1,"response":`+started+`}`) +
			event("response.output_item.added", fmt.Sprintf(`{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"msg_%08d","type":"message","status":"in_progress","role":"assistant","content":[]}}`, d.id)) +
			event("response.content_part.added", fmt.Sprintf(`{"type":"response.content_part.added","sequence_number":3,"item_id":"msg_%08d","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}`, d.id))
	}
	return d.chunk(`{"role":"assistant","content":"","refusal":null}`, "null")
}

// delta is one piece of the text.
func (d dialect) delta(piece string) string {
	switch d.req.API {
	case provider.AnthropicMessages:
		return event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+quote(piece)+`}}`)
	case provider.OpenAIResponses:
		return event("response.output_text.delta", fmt.Sprintf(`{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_%08d","output_index":0,"content_index":0,"delta":%s}`, d.id, quote(piece)))
	}
	return d.chunk(`{"content":`+quote(piece)+`}`, "null")
}

// close ends a stream that said text.
func (d dialect) close(text string) string {
	switch d.req.API {
	case provider.AnthropicMessages:
		return event("content_block_stop", `{"type":"content_block_stop","index":0}`) +
			event("message_delta", fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":%d}}`, spoken(text))) +
			event("message_stop", `{"type":"message_stop"}`)
	case provider.OpenAIResponses:
		return event("response.output_text.done", fmt.Sprintf(`{"type":"response.output_text.done","sequence_number":5,"item_id":"msg_%08d","output_index":0,"content_index":0,"text":%s}`, d.id, quote(text))) +
			event("response.completed", `{"type":"response.completed","sequence_number":6,"response":`+d.whole(text)+`}`)
	}
	end := d.chunk(`{}`, `"stop"`)
	if d.req.usage {
		end += event("", fmt.Sprintf(`{"id":"chatcmpl-%08d","object":"chat.completion.chunk","created":%d,"model":%s,"system_fingerprint":"fp_standin","choices":[],"usage":%s}`, d.id, d.created, quote(d.req.Model), d.usage(text)))
	}
	return end + event("", "[DONE]")
}

func (d dialect) usage(text string) string {
	in, out := d.req.tokens(), spoken(text)
	if d.req.API == provider.OpenAIResponses {
		return fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":0},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}`, in, out, in+out)
	}
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}`, in, out, in+out)
}

// whole is an answer that is not streamed. An empty text is an answer that
// says nothing, which each protocol has its own way of.
func (d dialect) whole(text string) string {
	model := quote(d.req.Model)
	switch d.req.API {
	case provider.AnthropicMessages:
		content := ""
		if text != "" {
			content = `{"type":"text","text":` + quote(text) + `}`
		}
		return fmt.Sprintf(`{"id":"msg_%08d","type":"message","role":"assistant","model":%s,"content":[%s],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":%d}}`,
			d.id, model, content, d.req.tokens(), spoken(text))
	case provider.OpenAIResponses:
		output := ""
		if text != "" {
			output = fmt.Sprintf(`{"id":"msg_%08d","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":%s,"annotations":[]}]}`, d.id, quote(text))
		}
		return fmt.Sprintf(`{"id":"resp_%08d","object":"response","created_at":%d,"status":"completed","error":null,"incomplete_details":null,"model":%s,"output":[%s],"usage":%s}`,
			d.id, d.created, model, output, d.usage(text))
	}
	return fmt.Sprintf(`{"id":"chatcmpl-%08d","object":"chat.completion","created":%d,"model":%s,"choices":[{"index":0,"message":{"role":"assistant","content":%s,"refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":%s,"service_tier":"default","system_fingerprint":"fp_standin"}`,
		d.id, d.created, model, quote(text), d.usage(text))
}

// fault is an error inside a stream whose headers said 200. body is the
// vendor's envelope.
func (d dialect) fault(body string) string {
	switch d.req.API {
	case provider.AnthropicMessages:
		return event("error", body)
	case provider.OpenAIResponses:
		inner := body
		var env struct{ Error json.RawMessage }
		if json.Unmarshal([]byte(body), &env) == nil && len(env.Error) > 0 {
			inner = string(env.Error)
		}
		return event("response.failed", fmt.Sprintf(`{"type":"response.failed","sequence_number":5,"response":{"id":"resp_%08d","object":"response","created_at":%d,"status":"failed","error":%s,"model":%s,"output":[]}}`, d.id, d.created, inner, quote(d.req.Model)))
	}
	return event("", body)
}

// spoken estimates the tokens of an answer.
func spoken(text string) int { return (len(text) + 3) / 4 }

// pieces cuts a text after each space, as models emit it.
func pieces(text string) []string {
	return strings.SplitAfter(text, " ")
}
