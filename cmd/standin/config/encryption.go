package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"standin/fallback/provider"
)

// Encryption is auth.encryption: under which key stored secrets lie. The zero
// value: under none.
type Encryption struct {
	KeyFile       string // absolute
	Passphrase    provider.Key
	PassphraseEnv string // where the passphrase came from
}

// Encryption reads auth.encryption alone from the file at path, however faulty
// the rest of it is: who mends a credential at a terminal may lack the variables
// that the daemon has.
func (r Reader) Encryption(path string) (Encryption, []Fault) {
	data, err := ReadBounded(path, MaxFile)
	if err != nil {
		return Encryption{}, []Fault{{File: path, Msg: "cannot be read: " + ReasonOf(err)}}
	}
	root, faults := Plant(path, data, Planter{Getenv: r.Getenv, Within: FileBounds})
	if root == nil {
		return Encryption{}, faults
	}
	lines := strings.Split(string(data), "\n")
	doc := newDocument()
	if root, faults = Fit(path, lines, root, faults, &doc); root == nil {
		return Encryption{}, faults
	}
	if r.Base == "" {
		r.Base = filepath.Dir(path)
	}
	c := newCompiler(r, path, lines, root, &doc)
	e := c.readEncryption()
	for _, f := range faults { // of the tree: those of this section were taken out of it
		if strings.HasPrefix(f.Path, "auth.encryption") {
			c.faults = append(c.faults, f)
		}
	}
	return e, SortFaults(c.faults)
}

// variableName is the name of an environment variable.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// readEncryption reads auth.encryption. Whether the key file is there is looked
// at when it is needed: standin auth seal makes it.
func (c *compiler) readEncryption() (e Encryption) {
	k, at := c.doc.Auth.Encryption, Path{"auth", "encryption"}
	if k.KeyFile != "" && k.PassphraseEnv != "" {
		c.report(at, "names a key file and a passphrase", "keep one of keyFile and passphraseEnv")
		return e
	}
	if k.KeyFile != "" {
		e.KeyFile = k.KeyFile
		if !filepath.IsAbs(e.KeyFile) {
			e.KeyFile = filepath.Join(c.Base, e.KeyFile)
		}
		if abs, err := filepath.Abs(e.KeyFile); err == nil {
			e.KeyFile = abs
		}
	}
	if k.PassphraseEnv == "" {
		return e
	}
	if !variableName.MatchString(k.PassphraseEnv) {
		c.report(at.Key("passphraseEnv"), "is no name of an environment variable", "write the variable's name, never the passphrase itself: such as STANDIN_PASSPHRASE")
		return e
	}
	e.PassphraseEnv, e.Passphrase = k.PassphraseEnv, provider.NewKey(c.Getenv(k.PassphraseEnv))
	if e.Passphrase.Empty() {
		c.report(at.Key("passphraseEnv"), fmt.Sprintf("the variable %s is not set, or empty", k.PassphraseEnv), "set it in the environment of standin")
	}
	return e
}
