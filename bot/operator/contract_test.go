package operator

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite openapi.yaml")

// openapi.yaml is what people and other programs read: it says what is served.
func TestTheContractIsWrittenDown(t *testing.T) {
	text, err := json.Marshal(contract(routes(), contractVersion))
	if err != nil {
		t.Fatal(err)
	}
	want, err := yaml.JSONToYAML(text)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("openapi.yaml", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(have)); diff != "" {
		t.Errorf("openapi.yaml is not what is served; go test ./bot/operator -run Contract -update writes it\n%s", diff)
	}
}
