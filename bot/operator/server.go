package operator

import (
	"context"
	"net/http"
	"time"
)

// Server answers the operator.
type Server struct{}

// call is one request on its way through.
type call struct {
	ctx context.Context
	r   *http.Request
	now time.Time
	who string
}
