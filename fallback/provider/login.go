package provider

// Originator is how this program names itself to vendors and their
// authorization servers.
const Originator = userAgent

// TransportError is the evidence of a request beside a call (the renewal of a
// login) that broke before there was an answer. It quotes no URL.
func TransportError(providerID string, err error) *Error {
	t, cause := transportOf(err), inner(err)
	return &Error{Provider: providerID, Transport: t, Message: cut(Redact(cause.Error()), maxMessage), Err: cause}
}
