package policy

import (
	"io"
	"strings"
	"time"
)

// The bounds of pairing [P1].
const (
	PairingTTL  = time.Hour // how long a code can be approved
	PairingMost = 3         // codes that wait per channel account; beyond it, silence
	codeLength  = 8
)

// codeLetters are those that nobody confuses when they are read aloud.
const codeLetters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"

// Code makes a pairing code from random bytes: 8 of 32 letters, 40 bits [P1].
// It fails only if random does.
func Code(random io.Reader) (string, error) {
	var raw [codeLength]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", err
	}
	for i, b := range raw {
		raw[i] = codeLetters[int(b)%len(codeLetters)] // 256 is a multiple of 32: no letter is likelier
	}
	return string(raw[:]), nil
}

// NormalCode is the form in which codes are stored and compared.
func NormalCode(typed string) string { return strings.ToUpper(strings.TrimSpace(typed)) }
