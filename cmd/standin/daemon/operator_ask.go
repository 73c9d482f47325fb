package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"standin/bot/operator"
)

// AskNow asks the daemon that runs on the state folder dir what is going on. The
// error says that none answers.
func AskNow(ctx context.Context, dir string) (now operator.Now, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, SocketFile))
	}}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/api/v1/now", nil)
	if err != nil {
		return now, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return now, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return now, fmt.Errorf("it says %s", answer.Status)
	}
	return now, json.NewDecoder(answer.Body).Decode(&now)
}
