package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"standin/fallback"
)

// maxClassifyLine bounds one line of input, in bytes.
const maxClassifyLine = 10 << 20

// runClassify says what failures mean: the one that is given, or one a line of
// in as a JSON object with the fields id, provider, model, status, code, type,
// message and body, all of them optional. It prints one JSON object a line. A
// line that cannot be read is reported on errs by its number and the rest goes
// on; the exit status is then 1.
func runClassify(in io.Reader, out, errs io.Writer, one *fallback.Signal) int {
	w := bufio.NewWriter(out)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if one != nil {
		return flushed(w, enc.Encode(classified(nil, *one)), 0)
	}
	status := 0
	r := bufio.NewReaderSize(in, 64<<10)
	for number := 1; ; number++ {
		line, err := readLine(r)
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		line = bytes.TrimSpace(line)
		switch {
		case errors.Is(err, errLongLine):
			fmt.Fprintf(errs, "line %d: longer than %d bytes\n", number, maxClassifyLine)
			status = 1
			continue
		case err != nil && err != io.EOF:
			fmt.Fprintf(errs, "line %d: %v\n", number, err)
			return flushed(w, nil, 1)
		}
		if len(line) > 0 {
			id, signal, bad := readFailure(line)
			if bad != nil {
				fmt.Fprintf(errs, "line %d: %v\n", number, bad)
				status = 1
			} else if err := enc.Encode(classified(id, signal)); err != nil {
				return flushed(w, err, 1)
			}
		}
		if err == io.EOF {
			return flushed(w, nil, status)
		}
		if r.Buffered() == 0 && w.Flush() != nil { // a person, or a pipe that waits for its answer
			return 1
		}
	}
}

// flushed is the exit status after the last of the output was written.
func flushed(w *bufio.Writer, err error, status int) int {
	if w.Flush() != nil || err != nil {
		return 1
	}
	return status
}

// failureLine is a line of output.
type failureLine struct {
	ID       json.RawMessage  `json:"id,omitempty"`
	Reason   *fallback.Reason `json:"reason"`
	Label    fallback.Label   `json:"label,omitempty"`
	Failover bool             `json:"failover"`
	Rotates  bool             `json:"rotates"`
	Window   string           `json:"window"`
	Scope    string           `json:"scope"`
	Why      string           `json:"why"`
}

func classified(id json.RawMessage, s fallback.Signal) failureLine {
	c := fallback.Classify(s)
	line := failureLine{ID: id, Label: c.Label, Failover: c.Failover, Rotates: c.Rotates(), Why: c.Rule}
	if c.Reason != fallback.NoReason {
		line.Reason = &c.Reason
	}
	if line.Why == "" {
		line.Why = "no rule fits"
	}
	line.Window, line.Scope = c.Penalty(s)
	return line
}

// readFailure reads a line of input. Faults never quote the line: it may hold
// what its sender should not have logged.
func readFailure(line []byte) (id json.RawMessage, s fallback.Signal, err error) {
	var f struct {
		ID, Provider, Model, Status, Code, Type, Message, Body json.RawMessage
	}
	if line[0] != '{' {
		return nil, s, errors.New("not a JSON object")
	}
	if err := json.Unmarshal(line, &f); err != nil {
		var at *json.SyntaxError
		if errors.As(err, &at) {
			return nil, s, fmt.Errorf("not JSON: the fault is near byte %d", at.Offset)
		}
		return nil, s, errors.New("not JSON")
	}
	s = fallback.Signal{
		Provider: plain(f.Provider), Model: plain(f.Model), Code: plain(f.Code), Type: plain(f.Type),
		Message: plain(f.Message), Body: plain(f.Body),
	}
	status := strings.TrimSpace(plain(f.Status))
	n, err := strconv.ParseFloat(status, 64)
	switch {
	case status == "":
	case err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<31:
		s.Status = int(n)
	case err == nil:
		return nil, s, errors.New("status is no HTTP status")
	case s.Code == "":
		s.Code = status // a word where a number belongs is a code (failover.md 5.A.3)
	}
	if id = f.ID; string(id) == "null" {
		id = nil
	}
	return id, s, nil
}

// plain is a JSON string's text, nothing for null, and any other value as it is
// written.
func plain(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

var errLongLine = errors.New("line too long")

// readLine reads up to and with the next newline. A line that is too long is
// read to its end and given up.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		piece, err := r.ReadSlice('\n')
		if long = long || len(line)+len(piece) > maxClassifyLine+1; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case long && (err == nil || err == io.EOF):
			return nil, errLongLine
		}
		return line, err
	}
}
