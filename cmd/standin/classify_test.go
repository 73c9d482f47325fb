package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"standin/fallback"
)

func classifyLines(t *testing.T, in string) (out, errs []string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	status = runClassify(strings.NewReader(in), &o, &e, nil)
	split := func(s string) []string {
		if s == "" {
			return nil
		}
		return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	}
	return split(o.String()), split(e.String()), status
}

func TestClassifyPrintsOneObjectALine(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"a rate limit cools one model",
			`{"id":"a","provider":"openai","model":"gpt-x","status":429}`,
			`{"id":"a","reason":"rate_limit","failover":true,"rotates":true,"window":"cooldown","scope":"model","why":"status 429"}`},
		{"of an unknown model, the profile",
			`{"status":429}`,
			`{"reason":"rate_limit","failover":true,"rotates":true,"window":"cooldown","scope":"profile","why":"status 429"}`},
		{"a status may be digits in a string",
			`{"id":7,"status":"529"}`,
			`{"id":7,"reason":"overloaded","failover":true,"rotates":true,"window":"cooldown","scope":"profile","why":"status 529"}`},
		{"a word as status is a code",
			`{"status":"RESOURCE_EXHAUSTED"}`,
			`{"reason":"rate_limit","failover":true,"rotates":true,"window":"cooldown","scope":"profile","why":"code resource_exhausted"}`},
		{"money disables the profile",
			`{"id":"b","model":"m","status":402,"message":null}`,
			`{"id":"b","reason":"billing","failover":true,"rotates":true,"window":"billing","scope":"profile","why":"status 402: HTTP 402"}`},
		{"a permanent fault has its own window",
			`{"code":"deactivated_workspace"}`,
			`{"reason":"auth_permanent","failover":true,"rotates":true,"window":"auth_permanent","scope":"profile","why":"code deactivated_workspace"}`},
		{"no class is null, with its label",
			`{"id":"c","message":"strange"}`,
			`{"id":"c","reason":null,"label":"unclassified","failover":false,"rotates":false,"window":"none","scope":"none","why":"no rule fits"}`},
		{"a body may be any JSON, unknown fields are ignored",
			`{"status":400,"message":"Param Incorrect","body":{"error":{"param":"Not supported model x"}},"more":[1]}`,
			`{"reason":"model_not_found","failover":true,"rotates":false,"window":"none","scope":"none","why":"model missing: not supported model"}`},
		{"a refused connection is not the profile's fault",
			`{"model":"m","code":"ECONNREFUSED"}`,
			`{"reason":"timeout","failover":true,"rotates":false,"window":"none","scope":"none","why":"code econnrefused"}`},
		{"OpenRouter's profiles never cool",
			`{"provider":"openrouter","model":"m","status":429}`,
			`{"reason":"rate_limit","failover":true,"rotates":true,"window":"none","scope":"none","why":"status 429"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errs, status := classifyLines(t, c.in)
			if diff := cmp.Diff([]string{c.want}, out); diff != "" || status != 0 || errs != nil {
				t.Errorf("status %d, errs %q\n%s", status, errs, diff)
			}
		})
	}
}

func TestClassifyGoesOnAfterALineItCannotRead(t *testing.T) {
	in := "\ufeff{\"id\":1,\"status\":429}\r\n\r\n{\"id\":\n[1]\n{\"message\":\"" + strings.Repeat("x", maxClassifyLine) + "\"}\n" +
		`{"status":4.5}` + "\n" + `{"id":2,"status":401}`
	out, errs, status := classifyLines(t, in)
	if status != 1 || len(out) != 2 || !strings.Contains(out[0], `"id":1,"reason":"rate_limit"`) || !strings.Contains(out[1], `"id":2,"reason":"auth"`) {
		t.Errorf("status %d, out %q", status, out)
	}
	var numbers []string
	for _, e := range errs {
		n, _, _ := strings.Cut(e, ":")
		numbers = append(numbers, n)
	}
	if diff := cmp.Diff([]string{"line 3", "line 4", "line 5", "line 6"}, numbers); diff != "" {
		t.Error(diff)
	}
}

func TestClassifyReadsALineOfTenMegabytes(t *testing.T) {
	line := `{"status":503,"body":"` + strings.Repeat("y", maxClassifyLine-30) + `"}`
	if out, errs, status := classifyLines(t, line+"\n"+line); len(out) != 2 || errs != nil || status != 0 {
		t.Errorf("%d lines, errs %q, status %d", len(out), errs, status)
	}
}

func TestClassifyNeverQuotesWhatItCannotRead(t *testing.T) {
	_, errs, _ := classifyLines(t, `{"message":"sk-secret-1234`)
	if len(errs) != 1 || strings.Contains(errs[0], "secret") {
		t.Errorf("errs %q", errs)
	}
}

func TestClassifyOfOneFailure(t *testing.T) {
	var out, errs bytes.Buffer
	status := runClassify(nil, &out, &errs, &fallback.Signal{Message: "<b>overloaded</b>"})
	var line struct{ Reason string }
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || status != 0 || line.Reason != "overloaded" {
		t.Errorf("status %d, err %v, out %s", status, err, out.String())
	}
}
