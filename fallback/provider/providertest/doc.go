// Package providertest holds wire doubles of model vendors: they speak the
// real formats of the three protocols, so that everything above the network is
// the daemon's own code.
//
// Vendor answers from a script and keeps a journal, for tests. It is an
// http.RoundTripper without sockets, which works on the fake clock of a
// testing/synctest bubble, and an http.Handler for a real loopback server.
//
// Stage answers from a function, for `standin demo` and for anyone who wants to
// watch a failover without an account.
package providertest
