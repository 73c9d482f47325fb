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

// close ends a stream that said text and asks for tools.
func (d dialect) close(text string, calls []provider.ToolCall) string {
	switch d.req.API {
	case provider.AnthropicMessages:
		end := event("content_block_stop", `{"type":"content_block_stop","index":0}`)
		for i, c := range calls {
			end += event("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%s,"name":%s,"input":{}}}`, i+1, quote(d.callID(c, i)), quote(c.Name)))
			for _, piece := range halves(c.Input) {
				end += event("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, i+1, quote(piece)))
			}
			end += event("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i+1))
		}
		return end + event("message_delta", fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"output_tokens":%d}}`, quote(d.stop(calls)), spoken(text))) +
			event("message_stop", `{"type":"message_stop"}`)
	case provider.OpenAIResponses:
		end := event("response.output_text.done", fmt.Sprintf(`{"type":"response.output_text.done","sequence_number":5,"item_id":"msg_%08d","output_index":0,"content_index":0,"text":%s}`, d.id, quote(text)))
		for i, c := range calls {
			item := d.callItem(c, i)
			end += event("response.output_item.added", fmt.Sprintf(`{"type":"response.output_item.added","sequence_number":6,"output_index":%d,"item":%s}`, i+1, d.callItem(provider.ToolCall{ID: c.ID, Name: c.Name}, i))) +
				event("response.function_call_arguments.delta", fmt.Sprintf(`{"type":"response.function_call_arguments.delta","sequence_number":7,"item_id":"fc_%08d_%d","output_index":%d,"delta":%s}`, d.id, i, i+1, quote(c.Input))) +
				event("response.function_call_arguments.done", fmt.Sprintf(`{"type":"response.function_call_arguments.done","sequence_number":8,"item_id":"fc_%08d_%d","output_index":%d,"arguments":%s}`, d.id, i, i+1, quote(c.Input))) +
				event("response.output_item.done", fmt.Sprintf(`{"type":"response.output_item.done","sequence_number":9,"output_index":%d,"item":%s}`, i+1, item))
		}
		return end + event("response.completed", `{"type":"response.completed","sequence_number":10,"response":`+d.whole(text, calls)+`}`)
	}
	end := ""
	for i, c := range calls {
		for k, piece := range halves(c.Input) {
			head := ""
			if k == 0 {
				head = fmt.Sprintf(`"id":%s,"type":"function",`, quote(d.callID(c, i)))
			}
			name := ""
			if k == 0 {
				name = `"name":` + quote(c.Name) + `,`
			}
			end += d.chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,%s"function":{%s"arguments":%s}}]}`, i, head, name, quote(piece)), "null")
		}
	}
	end += d.chunk(`{}`, quote(d.stop(calls)))
	if d.req.usage {
		end += event("", fmt.Sprintf(`{"id":"chatcmpl-%08d","object":"chat.completion.chunk","created":%d,"model":%s,"system_fingerprint":"fp_standin","choices":[],"usage":%s}`, d.id, d.created, quote(d.req.Model), d.usage(text)))
	}
	return end + event("", "[DONE]")
}

// stop is the vendor's word for why the answer ends.
func (d dialect) stop(calls []provider.ToolCall) string {
	asks := len(calls) > 0
	switch {
	case d.req.API == provider.AnthropicMessages && asks:
		return "tool_use"
	case d.req.API == provider.AnthropicMessages:
		return "end_turn"
	case asks:
		return "tool_calls"
	}
	return "stop"
}

// callID is the vendor's id of the i-th call of this answer.
func (d dialect) callID(c provider.ToolCall, i int) string {
	switch {
	case c.ID != "":
		return c.ID
	case d.req.API == provider.AnthropicMessages:
		return fmt.Sprintf("toolu_%08d%02d", d.id, i)
	}
	return fmt.Sprintf("call_%08d%02d", d.id, i)
}

// callItem is a call in the Responses protocol.
func (d dialect) callItem(c provider.ToolCall, i int) string {
	return fmt.Sprintf(`{"id":"fc_%08d_%d","type":"function_call","status":"completed","call_id":%s,"name":%s,"arguments":%s}`,
		d.id, i, quote(d.callID(c, i)), quote(c.Name), quote(c.Input))
}

// halves cuts a call's input in two, as vendors stream it in pieces.
func halves(input string) []string {
	if len(input) < 2 {
		return []string{input}
	}
	return []string{input[:len(input)/2], input[len(input)/2:]}
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
func (d dialect) whole(text string, calls []provider.ToolCall) string {
	model := quote(d.req.Model)
	switch d.req.API {
	case provider.AnthropicMessages:
		content := ""
		if text != "" {
			content = `{"type":"text","text":` + quote(text) + `}`
		}
		for i, c := range calls {
			if content != "" {
				content += ","
			}
			content += fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":%s}`, quote(d.callID(c, i)), quote(c.Name), c.Input)
		}
		return fmt.Sprintf(`{"id":"msg_%08d","type":"message","role":"assistant","model":%s,"content":[%s],"stop_reason":%s,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":%d}}`,
			d.id, model, content, quote(d.stop(calls)), d.req.tokens(), spoken(text))
	case provider.OpenAIResponses:
		output := ""
		if text != "" {
			output = fmt.Sprintf(`{"id":"msg_%08d","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":%s,"annotations":[]}]}`, d.id, quote(text))
		}
		for i, c := range calls {
			if output != "" {
				output += ","
			}
			output += d.callItem(c, i)
		}
		return fmt.Sprintf(`{"id":"resp_%08d","object":"response","created_at":%d,"status":"completed","error":null,"incomplete_details":null,"model":%s,"output":[%s],"usage":%s}`,
			d.id, d.created, model, output, d.usage(text))
	}
	asked := ""
	for i, c := range calls {
		if asked != "" {
			asked += ","
		}
		asked += fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, quote(d.callID(c, i)), quote(c.Name), quote(c.Input))
	}
	if asked != "" {
		asked = `,"tool_calls":[` + asked + `]`
	}
	return fmt.Sprintf(`{"id":"chatcmpl-%08d","object":"chat.completion","created":%d,"model":%s,"choices":[{"index":0,"message":{"role":"assistant","content":%s,"refusal":null,"annotations":[]%s},"logprobs":null,"finish_reason":%s}],"usage":%s,"service_tier":"default","system_fingerprint":"fp_standin"}`,
		d.id, d.created, model, quote(text), asked, quote(d.stop(calls)), d.usage(text))
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
