package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/oauth2"

	"standin/fallback/provider"
)

// DeviceLogin is a login on another device: a person opens Page there and types
// Code (RFC 8628, or a vendor's own protocol of the same kind).
type DeviceLogin struct {
	Code    string
	Page    string
	Link    string // Page with the code in it; "": the vendor gave none
	Expires time.Time

	vendor    Vendor
	transport http.RoundTripper
	now       func() time.Time
	rfc       *oauth2.DeviceAuthResponse
	id        string // of OpenAI's protocol
	every     time.Duration
}

// codeLife is how long a device code is good when its vendor does not say.
const codeLife = 15 * time.Minute

// Device asks for a device code. transport nil is the usual one, now nil is
// time.Now.
func Device(ctx context.Context, v Vendor, transport http.RoundTripper, now func() time.Time) (*DeviceLogin, error) {
	if v.DeviceURL == "" {
		return nil, ErrNoDeviceLogin
	}
	if err := v.Validate(); err != nil {
		return nil, err
	}
	d := &DeviceLogin{vendor: v, transport: transport, now: clock(now)}
	if v.OwnDevice != nil {
		return d, d.askOwn(ctx)
	}
	began := d.now()
	_, err := v.exchange(ctx, transport, "no device code was given", func(ctx context.Context) (*oauth2.Token, error) {
		var err error
		d.rfc, err = v.config("").DeviceAuth(ctx)
		return nil, err
	})
	if err != nil {
		return nil, err
	}
	if d.rfc.UserCode == "" || d.rfc.DeviceCode == "" || d.rfc.VerificationURI == "" {
		return nil, errors.New("no device code was given: the answer of the authorization server has none")
	}
	if d.rfc.Expiry.IsZero() {
		d.rfc.Expiry = time.Now().Add(codeLife)
	}
	d.Code, d.Page, d.Link = printable(d.rfc.UserCode), printable(d.rfc.VerificationURI), printable(d.rfc.VerificationURIComplete)
	d.Expires = began.Add(time.Until(d.rfc.Expiry))
	return d, nil
}

// Wait asks until the person has agreed, declined (ErrDenied) or not come in
// time (ErrExpired). It keeps to the vendor's interval and slows down when told.
func (d *DeviceLogin) Wait(ctx context.Context) (Credential, error) {
	if d.vendor.OwnDevice != nil {
		return d.waitOwn(ctx)
	}
	for {
		token, err := d.vendor.exchange(ctx, d.transport, "the device login failed", func(ctx context.Context) (*oauth2.Token, error) {
			return d.vendor.config("").DeviceAccessToken(ctx, d.rfc)
		})
		var e *provider.Error
		switch {
		case err == nil:
			return Credential{Provider: d.vendor.Provider}.granted(token, d.now()), nil
		case errors.As(err, &e) && e.Code == "access_denied":
			return Credential{}, ErrDenied
		case errors.As(err, &e) && e.Code == "expired_token", !d.now().Before(d.Expires):
			return Credential{}, ErrExpired
		case errors.As(err, &e) && e.Transport != provider.NoTransport && ctx.Err() == nil:
			continue // a poll that was lost: the library waits its interval before the next
		}
		return Credential{}, err
	}
}

// askOwn asks for a code in OpenAI's protocol.
func (d *DeviceLogin) askOwn(ctx context.Context) error {
	var got struct {
		ID       string          `json:"device_auth_id"`
		Code     string          `json:"user_code"`
		AltCode  string          `json:"usercode"`
		Interval json.RawMessage `json:"interval"` // a number, or text
		In       float64         `json:"expires_in"`
	}
	status, err := d.post(ctx, d.vendor.DeviceURL, map[string]string{"client_id": d.vendor.ClientID}, &got)
	switch {
	case err != nil:
		return err
	case status == http.StatusNotFound:
		return errors.New("device login is not switched on for this account: allow it in the account's security settings, or log in with a browser")
	case status/100 != 2:
		return fmt.Errorf("no device code was given: the authorization server answered HTTP %d", status)
	}
	if got.Code == "" {
		got.Code = got.AltCode
	}
	if got.ID == "" || got.Code == "" {
		return errors.New("no device code was given: the answer of the authorization server has none")
	}
	seconds, _ := strconv.ParseFloat(string(bytes.Trim(got.Interval, `"`)), 64)
	d.every = time.Duration(min(max(seconds, 1), 60) * float64(time.Second))
	if seconds <= 0 {
		d.every = 5 * time.Second
	}
	d.id, d.Code, d.Page, d.Expires = got.ID, printable(got.Code), d.vendor.OwnDevice.Page, d.now().Add(codeLife)
	if got.In > 0 {
		d.Expires = d.now().Add(time.Duration(min(got.In, codeLife.Seconds()) * float64(time.Second)))
	}
	return nil
}

// waitOwn polls OpenAI's protocol: 403 and 404 mean that the person has not
// agreed yet; the answer has a code and the verifier that the vendor made for it.
func (d *DeviceLogin) waitOwn(ctx context.Context) (Credential, error) {
	ctx, cancel := context.WithDeadlineCause(ctx, time.Now().Add(d.Expires.Sub(d.now())), ErrExpired)
	defer cancel()
	tick := time.NewTicker(d.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return Credential{}, context.Cause(ctx)
		case <-tick.C:
		}
		var got struct {
			Code     string `json:"authorization_code"`
			Verifier string `json:"code_verifier"`
			Error    string `json:"error"`
		}
		status, err := d.post(ctx, d.vendor.OwnDevice.PollURL, map[string]string{"device_auth_id": d.id, "user_code": d.Code}, &got)
		switch {
		case ctx.Err() != nil:
			return Credential{}, context.Cause(ctx)
		case err != nil: // a poll that was lost
		case got.Error == "slow_down", status == http.StatusTooManyRequests:
			d.every += 5 * time.Second
			tick.Reset(d.every)
		case got.Error == "access_denied":
			return Credential{}, ErrDenied
		case got.Error == "expired_token":
			return Credential{}, ErrExpired
		case status == http.StatusForbidden, status == http.StatusNotFound, status >= 500:
		case status/100 != 2 || got.Code == "" || got.Verifier == "":
			return Credential{}, fmt.Errorf("the device login failed: the authorization server answered HTTP %d", status)
		default:
			l := &Login{Vendor: d.vendor, Transport: d.transport, Now: d.now, verifier: got.Verifier, redirect: d.vendor.OwnDevice.Redirect}
			return l.exchange(ctx, got.Code)
		}
	}
}

// post sends JSON and reads JSON. A page instead of it leaves into as it is.
func (d *DeviceLogin) post(ctx context.Context, url string, body any, into any) (status int, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := d.vendor.client(d.transport).Do(req)
	if err != nil {
		return 0, d.vendor.evidence("the device login failed", err)
	}
	_ = json.NewDecoder(resp.Body).Decode(into) // a page instead of JSON: the status says it
	return resp.StatusCode, resp.Body.Close()
}
