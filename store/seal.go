package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"standin/fallback"
	"standin/fallback/provider"
)

// Sealing says how secrets are kept on the disk: as they are (the zero value),
// or encrypted under a key that lies elsewhere. It is off unless config asks for
// it (auth.encryption), since a key beside its lock keeps nobody out: it helps
// where backups and disks get around and the key does not.
type Sealing struct {
	KeyFile string // absolute path of a file of mode 0600; see MakeKeyFile
	// Passphrase is used when there is no KeyFile, and PassphraseEnv is the
	// variable it came from, for messages.
	Passphrase    provider.Key
	PassphraseEnv string
}

// On tells whether secrets are encrypted.
func (s Sealing) On() bool { return s.KeyFile != "" || s.PassphraseEnv != "" }

// SealError says that a secret cannot be read or written as the config wants it,
// and what mends that. It names files, variables and profiles, never a secret.
type SealError struct {
	What string
	Mend string
	Err  error // the cause, may be nil
}

// Error gives fault and mend in one line.
func (e *SealError) Error() string {
	s := e.What
	if e.Err != nil {
		s += " (" + e.Err.Error() + ")"
	}
	return s + "; " + e.Mend
}

// Unwrap gives the cause.
func (e *SealError) Unwrap() error { return e.Err }

// sealed is a secret as its row holds it: a JSON object too, since the column
// holds nothing else. Every field but Data may be read by anybody.
type sealed struct {
	How  string `json:"standin:sealed"` // the algorithm
	Key  string `json:"key"`            // which key, as keyName gives it
	Salt string `json:"salt,omitempty"` // of a key made of a passphrase
	Data string `json:"data"`           // nonce, text and tag
}

// sealedHow names the only algorithm there is; sealedMark is how each such row
// begins, which no credential does.
const (
	sealedHow  = "aes-256-gcm"
	sealedMark = `{"standin:sealed":"`
)

// isSealed tells whether a row's text is encrypted.
func isSealed(text string) bool { return strings.HasPrefix(text, sealedMark) }

// secretColumn is the second half of what a sealed text is bound to: with the
// profile id it keeps a row that was moved from opening [library.md, secrets at
// rest].
const secretColumn = "credentials.secret"

func boundTo(p fallback.ProfileID) []byte { return []byte(string(p) + "\x00" + secretColumn) }

// vault seals and opens secrets. Keys are read when they are needed first. It is
// safe for many goroutines.
type vault struct {
	Sealing
	mu   sync.Mutex
	keys map[string]key // by salt, "" for the key file's
	salt string         // of what this process seals under a passphrase
}

// key is a cipher with its name.
type key struct {
	name string
	gcm  cipher.AEAD
}

func newVault(s Sealing) *vault { return &vault{Sealing: s, keys: map[string]key{}} }

// seal gives the text for the profile's row.
func (v *vault) seal(p fallback.ProfileID, secret provider.Key) (string, error) {
	if v == nil || !v.On() {
		return secret.Reveal(), nil
	}
	k, salt, err := v.sealing()
	if err != nil {
		return "", err
	}
	row := sealed{How: sealedHow, Key: k.name, Salt: salt,
		Data: base64.StdEncoding.EncodeToString(k.gcm.Seal(nil, nil, []byte(secret.Reveal()), boundTo(p)))}
	text, err := json.Marshal(row)
	return string(text), err
}

// open gives the secret of the profile's row. What is not sealed opens always:
// rows of before stay readable until `standin auth seal` has come by.
func (v *vault) open(p fallback.ProfileID, text string) (provider.Key, error) {
	if !isSealed(text) {
		return provider.NewKey(text), nil
	}
	var row sealed
	data, err := []byte(nil), json.Unmarshal([]byte(text), &row)
	if err == nil {
		data, err = base64.StdEncoding.DecodeString(row.Data)
	}
	switch {
	case err != nil || row.How != sealedHow:
		return provider.Key{}, &SealError{fmt.Sprintf("the stored secret of %s is sealed in a way that this version does not know", p), "run the version that sealed it, or store it again with standin auth add", nil}
	case v == nil || !v.On():
		return provider.Key{}, &SealError{fmt.Sprintf("the stored secret of %s is sealed, and the config names no key", p), "write auth.encryption into the config, as it was when standin auth seal ran", nil}
	}
	k, err := v.key(row.Salt)
	if err != nil {
		return provider.Key{}, err
	}
	if k.name != row.Key {
		return provider.Key{}, &SealError{fmt.Sprintf("the stored secret of %s was sealed with another key than %s holds", p, v.source()), "put the key of before back, or store the secret again with standin auth add", nil}
	}
	plain, err := k.gcm.Open(nil, nil, data, boundTo(p))
	if err != nil {
		return provider.Key{}, &SealError{fmt.Sprintf("the stored secret of %s does not open: its row was changed or moved", p), "store it again with standin auth add", nil}
	}
	return provider.NewKey(string(plain)), nil
}

// source names where the key comes from.
func (v *vault) source() string {
	if v.KeyFile != "" {
		return v.KeyFile
	}
	return "the variable " + v.PassphraseEnv
}

// sealing is the key for new rows.
func (v *vault) sealing() (key, string, error) {
	v.mu.Lock()
	if v.KeyFile == "" && v.salt == "" {
		v.salt = base64.RawStdEncoding.EncodeToString([]byte(rand.Text())[:16])
	}
	salt := v.salt
	v.mu.Unlock()
	k, err := v.key(salt)
	return k, salt, err
}

// pbkdf2Rounds is what OWASP's password storage page asks of PBKDF2 with
// SHA-256; a key is made once per process and salt, in some tenths of a second.
const pbkdf2Rounds = 600_000

// key gives the key of a salt, "" for the key file's.
func (v *vault) key(salt string) (key, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if k, ok := v.keys[salt]; ok {
		return k, nil
	}
	var raw []byte
	var err error
	switch {
	case (salt == "") != (v.KeyFile != ""):
		return key{}, &SealError{"secrets are sealed with " + kindOf(salt == "") + ", and the config names " + kindOf(v.KeyFile != ""),
			"put auth.encryption back as it was, run standin auth unseal, change it, and run standin auth seal", nil}
	case v.KeyFile != "":
		raw, err = readKeyFile(v.KeyFile)
	case v.Passphrase.Empty():
		err = &SealError{"the variable " + v.PassphraseEnv + ", which auth.encryption.passphraseEnv names, is not set", "set it in the environment of standin", nil}
	default:
		raw, err = pbkdf2.Key(sha256.New, v.Passphrase.Reveal(), []byte(salt), pbkdf2Rounds, 32)
	}
	if err != nil {
		return key{}, err
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return key{}, err
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return key{}, err
	}
	k := key{keyName(raw), gcm}
	v.keys[salt] = k
	if v.KeyFile == "" && v.salt == "" {
		v.salt = salt // the rows that are there share one derivation with new ones
	}
	return k, nil
}

func kindOf(file bool) string {
	if file {
		return "a key file"
	}
	return "a passphrase"
}

// keyName tells keys apart without telling anything of them.
func keyName(raw []byte) string {
	sum := sha256.Sum256(append([]byte("standin key name\x00"), raw...))
	return hex.EncodeToString(sum[:4])
}

// readKeyFile reads a key file that nobody else may read.
func readKeyFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &SealError{"the key file " + path + ", which auth.encryption.keyFile names, does not exist",
			"put it back from where you keep it; if nothing was ever sealed, make one with: standin auth seal", nil}
	case err != nil:
		return nil, &SealError{"the key file " + path + " cannot be read", "make it readable for the user that standin runs as", err}
	case info.Mode().Perm()&0o077 != 0:
		return nil, &SealError{fmt.Sprintf("the key file %s may be read by others (mode %o)", path, info.Mode().Perm()), "run: chmod 600 " + path, nil}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &SealError{"the key file " + path + " cannot be read", "make it readable for the user that standin runs as", err}
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(raw) != 32 {
		return nil, &SealError{"the key file " + path + " holds no key", "put back the one that standin auth seal made: 44 characters in one line", nil}
	}
	return raw, nil
}

// MakeKeyFile makes a key file of mode 0600 unless there is one; it is on the
// disk when this returns.
func MakeKeyFile(path string) (made bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, fmt.Errorf("make the folder of the key file: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		_, err := readKeyFile(path)
		return false, err
	}
	if err != nil {
		return false, fmt.Errorf("make the key file: %w", err)
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	_, err = f.WriteString(base64.StdEncoding.EncodeToString(raw) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return false, fmt.Errorf("write the key file: %w", errors.Join(err, os.Remove(path)))
	}
	return true, nil
}
