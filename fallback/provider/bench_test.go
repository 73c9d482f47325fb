package provider_test

import (
	"net/http"
	"testing"

	"standin/fallback/provider"
	pt "standin/fallback/provider/providertest"
)

// BenchmarkCall measures what a call costs beside the vendor's answer and the
// network: 300 µs is the most it should. The double's own work is in it.
func BenchmarkCall(b *testing.B) {
	for _, e := range apis {
		for _, stream := range []bool{false, true} {
			name := string(e.API) + "/plain"
			c := call(e)
			if stream {
				name = string(e.API) + "/streamed"
				c.OnText = func(string) {}
			}
			b.Run(name, func(b *testing.B) {
				double := &forgetful{}
				v := provider.New(provider.Options{Transport: double})
				b.ReportAllocs()
				for b.Loop() {
					if _, err := v.Call(b.Context(), c); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkFailedCall measures a call that is refused: the cost of a primary
// that fails at once.
func BenchmarkFailedCall(b *testing.B) {
	body := `{"type":"error","error":{"type":"rate_limit_error","message":"Number of request tokens has exceeded your per-minute rate limit"}}`
	for _, e := range apis {
		b.Run(string(e.API), func(b *testing.B) {
			v := provider.New(provider.Options{Transport: &forgetful{acts: []pt.Act{pt.Status(429, body, "Retry-After", "30")}}})
			c := call(e)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Call(b.Context(), c); err == nil {
					b.Fatal("no error")
				}
			}
		})
	}
}

// forgetful answers like a Vendor without a journal that grows.
type forgetful struct{ acts []pt.Act }

// RoundTrip implements http.RoundTripper.
func (f *forgetful) RoundTrip(r *http.Request) (*http.Response, error) {
	var v pt.Vendor
	if len(f.acts) > 0 {
		v.On(pt.When{}, f.acts...)
	}
	return v.RoundTrip(r)
}
