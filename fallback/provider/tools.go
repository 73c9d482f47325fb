package provider

import "encoding/json"

// Tool is something that a model may ask to have done.
type Tool struct {
	Name        string          // [a-zA-Z0-9_-]{1,64}, the characters that all vendors take
	Description string          // for the model
	Schema      json.RawMessage // JSON Schema of the input, an object
}

// ToolCall is one request of a model to have something done.
type ToolCall struct {
	ID    string // the vendor's, answered by the result with the same id
	Name  string
	Input string // a JSON object, as the model wrote it: it may not fit the schema, or not even be JSON
}

// ToolResult answers a ToolCall.
type ToolResult struct {
	ID     string // of the call
	Name   string // of the tool
	Text   string
	Failed bool // the model is told that it did not work
}

// Image is a picture in a message of the user.
type Image struct {
	Type string // MIME type: image/png, image/jpeg, image/gif or image/webp
	Data []byte
}

// says tells whether the message has anything in it: vendors refuse empty ones.
func (m Message) says() bool {
	return m.Text != "" || len(m.Calls) > 0 || len(m.Results) > 0 || len(m.Images) > 0
}

// schema is the tool's schema as a tree; one that is none takes any object.
func (t Tool) schema() map[string]any {
	var tree map[string]any
	if json.Unmarshal(t.Schema, &tree) != nil || tree == nil {
		tree = map[string]any{"type": "object", "properties": map[string]any{}}
	}
	return tree
}

// input is the call's input as vendors take it back: an object, whatever the
// model wrote.
func (c ToolCall) input() json.RawMessage {
	var tree map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Input), &tree) != nil || tree == nil {
		return json.RawMessage(`{}`)
	}
	return json.RawMessage(c.Input)
}
