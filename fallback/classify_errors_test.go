package fallback

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vendorError is an answer as a vendor's documents or its users show it.
type vendorError struct {
	Source   string
	Provider string
	Status   int
	Body     json.RawMessage
	Expected struct {
		Reason   Reason
		Failover bool
		Refusal  bool
	}
}

func vendorErrors(t testing.TB) map[string]vendorError {
	t.Helper()
	paths, _ := filepath.Glob("testdata/errors/*.json")
	all := map[string]vendorError{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var v vendorError
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".json")] = v
	}
	if len(all) == 0 {
		t.Fatal("no vendor errors")
	}
	return all
}

// body is the raw answer: a JSON string in the file is a page of text.
func (v vendorError) body() string {
	var page string
	if json.Unmarshal(v.Body, &page) == nil {
		return page
	}
	return string(v.Body)
}

// The error answers of vendors, whole, whether the wire hands on the body alone
// or takes message, type and code out of it.
func TestClassifyVendorErrors(t *testing.T) {
	for name, v := range vendorErrors(t) {
		taken := Signal{Provider: v.Provider, Status: v.Status, Body: v.body()}
		var envelope struct {
			Error json.RawMessage
		}
		var inner struct {
			Message, Type string
			Code          any
		}
		if json.Unmarshal(v.Body, &envelope) == nil && json.Unmarshal(envelope.Error, &inner) == nil {
			taken.Message, taken.Type = inner.Message, inner.Type
			taken.Code, _ = inner.Code.(string)
		}
		for how, s := range map[string]Signal{
			"body alone":      {Provider: v.Provider, Status: v.Status, Body: v.body()},
			"body as message": {Provider: v.Provider, Status: v.Status, Message: v.body()},
			"fields taken":    taken,
		} {
			c := Classify(s)
			if c.Reason != v.Expected.Reason || c.Failover != v.Expected.Failover || c.Refusal != v.Expected.Refusal {
				t.Errorf("%s (%s), %s: got %q failover %v refusal %v by %q, want %q %v %v", name, v.Source, how,
					c.Reason, c.Failover, c.Refusal, c.Rule, v.Expected.Reason, v.Expected.Failover, v.Expected.Refusal)
			}
		}
	}
}
