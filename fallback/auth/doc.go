// Package auth keeps OAuth logins: it makes one (a browser, a pasted address,
// a device code) and renews it before it runs out [M16, failover.md 10.8].
//
// It knows vendors' token endpoints and no rule of failover. A renewal that
// failed is told as evidence, a *provider.Error, and package fallback decides
// what it means: a refused refresh token is a lost login, an authorization
// server that cannot be reached is not the credential's fault.
//
// # What a crash can cost
//
// Vendors rotate refresh tokens: each may be sent once, its answer brings the
// next. Whoever renews a login therefore first takes a claim on it, a row with
// an end that other processes respect (Store.Claim), and stores the answer in
// one durable transaction before anybody uses it. The claim also says which
// refresh token is being sent, so what a dead process was about is known.
//
// A process that dies before the vendor acted costs nothing: when its claim
// ends, the next one sends the same token and gets its answer. One that dies
// after the vendor acted and before the answer was stored leaves a token that
// the vendor has used up. The next process sends it all the same, which is what
// vendors with a grace period ask for, and gets a good pair from them. A vendor
// without one refuses it as used twice. No client can do better, since the
// answer existed in the dead process alone. What remains then: a login is
// renewed minutes before its access token runs out, that token is used to its
// end, and only after it the login counts as lost, with the command that mends
// it. The time in which such a death can happen is one transaction long, about
// a millisecond.
package auth
