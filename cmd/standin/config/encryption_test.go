package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// auth.encryption: {keyFile | passphraseEnv}, off by default.
func TestEncryption(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		auth  string
		env   []string
		file  string
		env1  string
		fault string
	}{
		"off":              {},
		"key file beside":  {auth: "{encryption: {keyFile: my.key}}", file: filepath.Join(dir, "my.key")},
		"key file by path": {auth: "{encryption: {keyFile: /etc/standin.key}}", file: "/etc/standin.key"},
		"passphrase":       {auth: "{encryption: {passphraseEnv: PASS}}", env: []string{"PASS", "correct horse"}, env1: "PASS"},
		"not set":          {auth: "{encryption: {passphraseEnv: PASS}}", fault: "config.yaml:2:36: auth.encryption.passphraseEnv: the variable PASS is not set, or empty"},
		"both":             {auth: "{encryption: {keyFile: a, passphraseEnv: PASS}}", env: []string{"PASS", "x"}, fault: "names a key file and a passphrase"},
		"the passphrase itself": {auth: "{encryption: {passphraseEnv: correct-horse-battery}}",
			fault: "is no name of an environment variable"},
		"another key": {auth: "{encryption: {key: abc}}", fault: "key"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "agents: {defaults: {model: openai/gpt-5.5}}\n"
			if c.auth != "" {
				text += "auth: " + c.auth + "\n"
			}
			compiled, faults := Parse("config.yaml", []byte(text), env(c.env...), dir)
			var said []string
			for _, f := range faults {
				if !f.Warning {
					said = append(said, f.String())
				}
			}
			if c.fault != "" {
				if len(said) == 0 || !strings.Contains(said[0], c.fault) {
					t.Errorf("faults %q, want one with %q", said, c.fault)
				}
				if strings.Contains(strings.Join(said, " "), "battery") {
					t.Errorf("a passphrase is told: %q", said)
				}
				return
			}
			if compiled == nil {
				t.Fatal(said)
			}
			if e := compiled.Encryption; e.KeyFile != c.file || e.PassphraseEnv != c.env1 || e.Passphrase.Empty() != (c.env1 == "") {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// The way to the secrets is found in a config that is faulty elsewhere.
func TestEncryptionOfAFaultyConfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	text := "agents: {defaults: {modle: 5}}\nauth: {profiles: {\"openai:work\": {keyRef: {source: env, id: NOT_SET}}}, encryption: {keyFile: my.key}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e, faults := Reader{Getenv: env()}.Encryption(path)
	if e.KeyFile != filepath.Join(filepath.Dir(path), "my.key") || len(faults) > 0 {
		t.Errorf("%+v, %v", e, faults)
	}
}
