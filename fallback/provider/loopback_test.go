package provider_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"standin/fallback/provider"
	pt "standin/fallback/provider/providertest"
)

// serve puts a double behind a real socket and gives the three endpoints.
func serve(t *testing.T, h http.Handler) (endpoints []provider.Endpoint, connections *atomic.Int64) {
	connections = new(atomic.Int64)
	server := httptest.NewUnstartedServer(h)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	for _, e := range apis {
		e.BaseURL = server.URL
		if e.API != provider.AnthropicMessages {
			e.BaseURL += "/v1"
		}
		endpoints = append(endpoints, e)
	}
	return endpoints, connections
}

// sockets gives a caller over real connections.
func sockets(t *testing.T) *provider.Vendors {
	v := provider.New(provider.Options{})
	t.Cleanup(v.Close)
	return v
}

func TestOverRealConnections(t *testing.T) {
	double := pt.New()
	endpoints, connections := serve(t, double)
	v := sockets(t)
	for _, e := range endpoints {
		for range 3 {
			for _, stream := range []bool{false, true} {
				c := call(e)
				if stream {
					c, _ = streamed(c)
				}
				c.Limits = provider.Limits{Connect: time.Minute, FirstToken: time.Minute, Idle: time.Minute, Total: time.Minute}
				reply, err := v.Call(t.Context(), c)
				if err != nil || reply.Text != "answer of model-x" {
					t.Fatalf("%s: %+v, %v", e.API, reply, err)
				}
			}
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for 18 calls one after the other, want 1 that is used again", n)
	}
}

func TestRealConnectionsBreakLikeTheDoubles(t *testing.T) {
	for _, tt := range []struct {
		name string
		act  pt.Act
		want provider.Transport
	}{
		{"reset before the answer", pt.Network(provider.Reset), provider.Reset},
		{"broken in the middle", pt.StreamBreak("half an "), provider.EOF},
		{"ended in the middle", pt.StreamCut("half an "), provider.EOF},
		{"silent", pt.Hang(), provider.FirstTokenTimeout},
		{"silent in the middle", pt.Stall("half an "), provider.IdleTimeout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			double := pt.New()
			double.Always(pt.When{}, tt.act)
			endpoints, _ := serve(t, double)
			v := sockets(t)
			for _, e := range endpoints {
				c, _ := streamed(call(e))
				c.Limits = provider.Limits{FirstToken: 200 * time.Millisecond, Idle: 100 * time.Millisecond}
				_, err := v.Call(t.Context(), c)
				var broken *provider.Error
				if !errors.As(err, &broken) || broken.Transport != tt.want {
					t.Errorf("%s: %#v, want %s", e.API, err, tt.want)
				}
			}
		})
	}
	t.Run("nobody listens", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := listener.Addr().String()
		_ = listener.Close()
		c := call(apis[0])
		c.Endpoint.BaseURL = "http://" + address + "/v1"
		_, err = sockets(t).Call(t.Context(), c)
		var refused *provider.Error
		if !errors.As(err, &refused) || refused.Transport != provider.Refused {
			t.Errorf("%#v", err)
		}
	})
	t.Run("an untrusted certificate", func(t *testing.T) {
		server := httptest.NewUnstartedServer(pt.New())
		server.Config.ErrorLog = nil
		server.StartTLS()
		defer server.Close()
		c := call(apis[0])
		c.Endpoint.BaseURL = server.URL + "/v1"
		_, err := sockets(t).Call(t.Context(), c)
		var tls *provider.Error
		if !errors.As(err, &tls) || tls.Transport != provider.TLSFailed {
			t.Errorf("%#v", err)
		}
	})
}

func TestAConnectionThatDoesNotComeUpIsLimited(t *testing.T) {
	// A listener that nobody accepts from takes TCP connections, but never
	// answers the TLS greeting: to the limit both are the connection.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	c := call(apis[0])
	c.Endpoint.BaseURL = "https://" + listener.Addr().String() + "/v1"
	c.Limits = provider.Limits{Connect: 50 * time.Millisecond, Total: 10 * time.Second}
	_, err = sockets(t).Call(t.Context(), c)
	var slow *provider.Error
	if !errors.As(err, &slow) || slow.Transport != provider.ConnectTimeout {
		t.Errorf("%#v", err)
	}
}

func TestNoGoroutineStaysBehindOnRealConnections(t *testing.T) {
	double := pt.New()
	double.On(pt.When{Model: "hangs"}, pt.Hang(), pt.Stall("x "), pt.StreamBreak("x"))
	endpoints, _ := serve(t, double)
	before := runtime.NumGoroutine()
	v := provider.New(provider.Options{})
	for range 3 {
		c, _ := streamed(call(endpoints[0]))
		c.Model = "hangs"
		c.Limits = provider.Limits{FirstToken: 20 * time.Millisecond, Idle: 20 * time.Millisecond}
		if _, err := v.Call(t.Context(), c); err == nil {
			t.Error("no error")
		}
	}
	v.Close()
	deadline, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for runtime.NumGoroutine() > before+1 && deadline.Err() == nil {
		runtime.Gosched()
	}
	if now := runtime.NumGoroutine(); now > before+1 { // the server's own may still be ending
		buf := make([]byte, 1<<16)
		t.Errorf("%d goroutines, %d before\n%s", now, before, buf[:runtime.Stack(buf, true)])
	}
}
