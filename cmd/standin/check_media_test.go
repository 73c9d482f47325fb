package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// `standin check` tells who looks at pictures for whom, and warns of an image
// model that cannot see; `standin doctor` tells the same of the config [M34].
func TestCheckTellsWhoLooksAtPictures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	text := `
agents:
  defaults: {model: house/plain, imageModel: {primary: house/eyes, fallbacks: [house/plain]}}
  list: [{id: main}, {id: painter, model: house/eyes}]
models: {providers: {house: {baseUrl: "http://127.0.0.1:1/v1", models: [{id: plain, input: [text]}, {id: eyes, input: [text, image]}]}}}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	if code := runCheck(path, "", &out, &errs, env(), nil); code != exitOK {
		t.Fatalf("%d: %s", code, errs.String())
	}
	want := "pictures: house/eyes → house/plain\n    for main, whose own model cannot be shown any\n    not for painter, whose own model sees\n"
	if !strings.Contains(out.String(), want) {
		t.Errorf("check says\n%s", out.String())
	}
	if !strings.Contains(errs.String(), "house/plain cannot be shown pictures, as far as is known, and is passed over for them") {
		t.Errorf("check warns\n%s", errs.String())
	}
}
