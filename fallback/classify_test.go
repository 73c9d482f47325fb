package fallback

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// row is a failure with the class it has to get.
type row struct {
	ID       string
	Provider string
	Model    string
	Status   int
	Code     string
	Type     string
	Message  string
	Body     json.RawMessage
	Expected struct {
		Reason   Reason
		Failover bool
		Label    Label
	}
}

func (r row) signal() Signal {
	if string(r.Body) == "null" {
		r.Body = nil
	}
	return Signal{Provider: r.Provider, Model: r.Model, Status: r.Status, Code: r.Code, Type: r.Type, Message: r.Message, Body: string(r.Body)}
}

func rows(t testing.TB, path string) []row {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []row
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var r row
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatalf("%s line %d: %v", path, len(all)+1, err)
		}
		all = append(all, r)
	}
	return all
}

// The rows say the whole of the rules by example (failover.md 5).
func TestClassifyRows(t *testing.T) {
	for _, r := range slices.Concat(rows(t, "testdata/classify.jsonl"), rows(t, "testdata/classify_variants.jsonl")) {
		c := Classify(r.signal())
		if c.Reason != r.Expected.Reason || c.Failover != r.Expected.Failover || c.Label != r.Expected.Label {
			t.Errorf("%s: %+v\n got %q %v %q by %q\nwant %q %v %q", r.ID, r.signal(),
				c.Reason, c.Failover, c.Label, c.Rule, r.Expected.Reason, r.Expected.Failover, r.Expected.Label)
		}
	}
}
