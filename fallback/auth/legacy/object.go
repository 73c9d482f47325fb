package legacy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// object is a JSON object in the order of the file. A map would lose the second
// of two keys that are alike, and a credential with it.
type object []member

type member struct {
	key   string
	value json.RawMessage
	twice bool // a key of the same name stands before it
}

// get gives the value of the first key of that name.
func (o object) get(key string) (json.RawMessage, bool) {
	for _, m := range o {
		if m.key == key {
			return m.value, true
		}
	}
	return nil, false
}

// readObject reads the one JSON object that data is.
func readObject(data []byte) (object, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errors.New("is empty")
	case !utf8.Valid(data):
		return nil, errors.New("is not text in UTF-8")
	}
	// A whole look first: the decoder below reads a value at a time and would
	// give the beginning of a file whose end is broken.
	if err := wellFormed(data); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, errors.New("holds no JSON object")
	}
	o, seen := object{}, map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, errors.New("is no valid JSON")
		}
		m := member{key: key.(string)} // JSON has no other keys
		if err := d.Decode(&m.value); err != nil {
			return nil, errors.New("is no valid JSON")
		}
		m.twice, seen[m.key] = seen[m.key], true
		o = append(o, m)
	}
	return o, nil
}

// wellFormed gives the place of the first fault, in our own words: the
// decoder's may quote what stands there.
func wellFormed(data []byte) error {
	var all json.RawMessage
	d := json.NewDecoder(bytes.NewReader(data))
	err := d.Decode(&all)
	at := int64(len(data))
	var bad *json.SyntaxError
	switch {
	case err == nil:
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		at = d.InputOffset()
	case errors.Is(err, io.ErrUnexpectedEOF):
		line, col := place(data, at)
		return fmt.Errorf("is no valid JSON: it breaks off at line %d, column %d", line, col)
	case errors.As(err, &bad):
		at = bad.Offset - 1
	}
	line, col := place(data, at)
	return fmt.Errorf("is no valid JSON from line %d, column %d on", line, col)
}

// place gives line and column, in characters, of a byte; both from 1.
func place(data []byte, at int64) (line, col int) {
	before := data[:max(0, min(at, int64(len(data))))]
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}

// kindOf tells a JSON value by its first character: { [ " t f n or a digit.
func kindOf(v json.RawMessage) byte {
	if v = bytes.TrimSpace(v); len(v) > 0 {
		return v[0]
	}
	return 0
}

// text gives a value that is a JSON string.
func text(v json.RawMessage) (string, bool) {
	var s string
	if kindOf(v) != '"' || json.Unmarshal(v, &s) != nil {
		return "", false
	}
	return s, true
}
