package join

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
)

// PairPath is the path at which a server exchanges a code for a token.
const PairPath = "/v1/pair"

var code = regexp.MustCompile(`^[0-9A-Za-z_-]{22}$`)

// IsCode reports whether a text has the form of a code. Tokens never have this form.
func IsCode(text string) bool { return code.MatchString(text) }

// Pair exchanges a code from the server's page for the token of a machine. A code is valid once. If the server refuses
// the code, the error is a *[StatusError].
func Pair(ctx context.Context, server, code string) (token string, err error) {
	address, err := normalize(server)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, DialWithin)
	defer cancel()
	body, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address+PairPath, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	transport := http.DefaultTransport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	// The code is sent only to this server.
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", statusError(resp)
	}
	var got struct{ Token string }
	err = json.NewDecoder(io.LimitReader(resp.Body, maxProblem)).Decode(&got)
	if err == nil && got.Token == "" {
		err = errors.New("join: the code is not one for a machine")
	}
	return got.Token, err
}
