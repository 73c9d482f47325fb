package openclaw

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// flow is a value on one line, as a test compares it.
func flow(v *value) string {
	switch v.form {
	case object:
		var parts []string
		for _, m := range v.members {
			parts = append(parts, m.key+":"+flow(m.value))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case list:
		var parts []string
		for _, i := range v.items {
			parts = append(parts, flow(i))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case text:
		return `"` + v.text + `"`
	case empty:
		return "null"
	}
	return v.text
}

// "Comments, trailing commas, unquoted keys" and the rest of JSON5 [G1].
func TestJSON5(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: `{}`,
		"// a\n{ /* b */ a: 1, 'b': [1, 2,], \"c\": null, } // end": `{a:1,b:[1,2],c:null}`,
		`{$a_1: true, grün: false}`:                                 `{$a_1:true,grün:false}`,
		`[+1, -2, .5, 5., 0x1F, 1e3, -.5e-2, 0]`:                    `[1,-2,0.5,5,31,1e3,-0.005,0]`,
		`['it\'s "so"', "a\u0041\x42\
c", "\ud83d\ude00", '\0\v\q']`: "[\"it's \"so\"\",\"aABc\",\"😀\",\"\x00\vq\"]",
		`{a: 1, a: 2}`:                `{a:2}`,
		"\ufeff\u00a0{\u2028}":        `{}`,
		`{id: 123456789012345678901}`: `{id:123456789012345678901}`,
	} {
		v, err := parseJSON5([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, flow(v)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// A fault is told by line and column, without what stands there.
func TestJSON5FaultsAreToldByTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  a: s3cret\n}":     "line 2, column 6: a value is missing here; texts want quotes",
		"{\n  a: 's3cret\n'}":   "line 2, column 13: this text has no closing quote on its line",
		"{a: 1 b: 2}":           "line 1, column 7: a comma is missing here",
		"{a 1}":                 "line 1, column 4: a colon is missing behind this key",
		"{1: 2}":                "line 1, column 2: a key is missing here",
		"[1 2]":                 "line 1, column 4: a comma is missing here",
		"":                      "line 1, column 1: the file breaks off",
		"{a: ":                  "line 1, column 5: the file breaks off",
		"{} x":                  "line 1, column 4: something stands behind the end",
		"/* x":                  "line 1, column 1: this comment has no end",
		"[Infinity]":            "line 1, column 2: this is no number that a setting can have",
		"[-NaN]":                "line 1, column 2: this is no number that a setting can have",
		"[01]":                  "line 1, column 2: this is no number that a setting can have",
		"[1_0]":                 "line 1, column 3: a comma is missing here",
		`["\u12"]`:              "line 1, column 5: 4 hexadecimal digits are missing here",
		"\xff":                  "line 1, column 1: the file is not text in UTF-8",
		strings.Repeat("[", 99): "line 1, column 65: this is nested too deeply",
	} {
		if _, err := parseJSON5([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzJSON5IsTotal(f *testing.F) {
	f.Add(`{a: [1, 'x', "\u0041", .5], // c
	b: null}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := parseJSON5([]byte(text))
		if err == nil && v.form == object {
			d := Draft{root: v}
			d.modernise()
			d.takeSecrets()
			d.YAML()
		}
	})
}
