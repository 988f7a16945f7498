package server

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/internal/sealed"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// The limits of tokens.
const (
	maxTokens   = 10_000
	maxLogins   = 100 // cookies of a token: a further one ends the oldest
	maxTokenAge = 10 * 365 * 24 * time.Hour
	cookieAge   = 7 * 24 * time.Hour
)

// tokensName is the name of the file that holds the tokens.
const tokensName = "tokens.json"

// maxState is the size limit of the server's files other than logs.
const maxState = 64 << 20

// token is a token as stored on disk: without its secret.
type token struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"`
	Role    string    `json:"role"`
	Session string    `json:"session,omitempty"`
	Parent  string    `json:"parent,omitempty"`  // for a cookie: the token from which it was created
	Account string    `json:"account,omitempty"` // the account that pays; "" means the id
	Tenant  string    `json:"tenant,omitempty"`
	AgentOf string    `json:"agent_of,omitempty"` // the session whose agent holds it
	Answers bool      `json:"answers,omitempty"`  // of an agent: it may answer requests
	Paired  bool      `json:"paired,omitempty"`   // created by a pairing code
	Port    string    `json:"port,omitempty"`     // of the printed token and its cookies: the port for which it was printed
	Hash    string    `json:"hash"`
	Node    string    `json:"node,omitempty"` // of a printed token in a cluster: the server that has printed it
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
}

func (t token) expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// tokens are the tokens of a server. A secret is shown once and stored as its hash.
type tokens struct {
	path   string
	shared *sharedTokens // the tokens of a cluster; nil for a single server
	now    func() time.Time
	// ended is called after a token has ended, without holding the lock.
	ended func()

	changing sync.Mutex // held during a change, before mu

	mu    sync.Mutex
	all   []token
	place map[string]int // index in all, by id
	// ending are tokens that have ended, but are still stored because a change failed.
	ending []token
	retry  *time.Timer // stores that the tokens in ending have ended; nil if none waits
	closed bool
	// start is the token created at the start of the server. It is not on disk.
	start  token
	held   map[*holding]struct{}
	used   map[string]time.Time // the last use since the start, by the id of the token, also for its cookies
	expiry *time.Timer          // for the token in all that expires first; nil if none does
	live   bool                 // whether expiry is active
}

func newTokens(path string) *tokens {
	return &tokens{path: path, now: time.Now, ended: func() {}, held: map[*holding]struct{}{}, used: map[string]time.Time{}}
}

func openTokens(path string) (*tokens, error) {
	t := newTokens(path)
	data, err := regularfile.Read(path, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if data, err = sealed.Open(data); err == nil {
		err = t.read(data)
	}
	if err != nil {
		return nil, fmt.Errorf("server: %s: %w", path, err)
	}
	return t, nil
}

// read reads the tokens of a file; after an error it returns nil.
func (t *tokens) read(data []byte) error {
	var all []token
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	for _, one := range all {
		if one.ID == "" || one.Hash == "" {
			return fmt.Errorf("token %q has no id or no hash", one.ID)
		}
	}
	t.set(all)
	return nil
}

// TokenFile is the result of [ReadTokens]: the file, its permissions, and the number of valid and
// expired tokens.
type TokenFile struct {
	Path           string // of the file; empty if it does not exist
	Mode           fs.FileMode
	Valid, Expired int // number of tokens, including those of cookies and links
}

// ReadTokens reads the tokens in the directory of a server ([Options].Dir), which need not run. The
// file contains no secrets, only hashes.
func ReadTokens(dir string) (TokenFile, error) {
	path := filepath.Join(dir, tokensName)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return TokenFile{}, nil
	}
	if err != nil {
		return TokenFile{}, fmt.Errorf("server: %w", err)
	}
	if !info.Mode().IsRegular() {
		return TokenFile{}, fmt.Errorf("server: %s is not a regular file", path)
	}
	t, err := openTokens(path)
	if err != nil {
		return TokenFile{}, err
	}
	f := TokenFile{Path: path, Mode: info.Mode().Perm()}
	for _, tk := range t.all {
		if tk.expired(t.now()) {
			f.Expired++
		} else {
			f.Valid++
		}
	}
	return f, nil
}

// newSecret returns the id of a token (random if the given one is empty), its value for the holder,
// and the hash to store.
func newSecret(id string) (_, value, hash string) {
	if id == "" {
		id = random.Hex(6)
	}
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	value = "pt_" + id + "_" + base64.RawURLEncoding.EncodeToString(secret)
	return id, value, hashOf(value)
}

func hashOf(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// ownerAccount is the account of the token that is created at the start of the server. It is the
// same for every start.
const ownerAccount = "owner"

// begin creates a token that ends with the process and replaces the previous one.
func (t *tokens) begin() string {
	t.endBegun()
	id, value, hash := newSecret("")
	t.changing.Lock()
	t.mu.Lock()
	t.start = token{ID: id, Name: session.OwnerName, Account: ownerAccount, Role: roleAdmin.String(), Hash: hash, Created: t.now()}
	if t.shared != nil {
		t.shareStart()
	}
	t.sweep()
	t.mu.Unlock()
	t.changing.Unlock()
	t.ended()
	return value
}

// create creates a token and stores it before it is shown.
func (t *tokens) create(tk token, age time.Duration) (token, string, error) {
	if age < 0 || age > maxTokenAge {
		return token{}, "", session.Invalid("a token lasts between 1 second and 10 years")
	}
	var value string
	tk.ID, value, tk.Hash = newSecret(tk.ID)
	tk.Created = t.now().UTC()
	if age > 0 {
		tk.Expires = tk.Created.Add(age)
	}
	ended, err := t.add(tk)
	if ended {
		t.ended()
	}
	if err != nil {
		return token{}, "", err
	}
	return tk, value, nil
}

// add stores a new token and drops expired ones. It reports whether it has ended the oldest cookie
// of the same token.
func (t *tokens) add(tk token) (ended bool, err error) {
	t.changing.Lock()
	defer t.changing.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := slices.DeleteFunc(slices.Clone(t.all), func(old token) bool { return old.expired(t.now()) })
	sibling := func(old token) bool { return tk.Parent != "" && old.Parent == tk.Parent }
	logins := 0
	for _, old := range kept {
		if sibling(old) {
			logins++
		}
	}
	if ended = logins >= maxLogins; ended {
		oldest := slices.IndexFunc(kept, sibling)
		for i, old := range kept {
			if sibling(old) && old.Created.Before(kept[oldest].Created) {
				oldest = i
			}
		}
		kept = slices.Delete(kept, oldest, oldest+1)
	}
	if len(kept) >= maxTokens {
		return false, session.LimitReached("there are %d tokens; revoke some", maxTokens)
	}
	if err := t.save(append(kept, tk)); err != nil {
		return false, err
	}
	return ended, nil
}

// save replaces the file atomically. In a cluster it changes the shared tokens instead, and
// releases mu meanwhile. The caller holds changing and mu.
func (t *tokens) save(all []token) error {
	if t.shared != nil {
		err := t.share(all)
		if err == nil {
			t.shareRest()
		}
		return err
	}
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if err := saveState(t.path, data); err != nil {
		return err
	}
	t.ending = nil
	t.set(all)
	return nil
}

// list returns the valid tokens, without cookies and printed ones.
func (t *tokens) list() []api.TokenInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	for h := range t.held {
		t.use(h.id) // its connection is open
	}
	list := []api.TokenInfo{}
	for _, tk := range t.all {
		if tk.Parent != "" || tk.Port != "" || tk.Node != "" || tk.expired(t.now()) {
			continue
		}
		info := api.TokenInfo{ID: tk.ID, Name: tk.Name, Role: tk.Role, SessionID: tk.Session, Tenant: tk.Tenant, AgentOf: tk.AgentOf, Device: tk.Paired, CreatedAt: session.Timestamp(tk.Created)}
		if at, ok := t.used[tk.ID]; ok {
			info.UsedAt = session.Timestamp(at)
		}
		if !tk.Expires.IsZero() {
			info.ExpiresAt = session.Timestamp(tk.Expires)
		}
		list = append(list, info)
	}
	return list
}

// check returns the holder of a token that was sent to a port. All rejections look the same to the
// caller.
func (t *tokens) check(value, port string) (*principal, error) {
	parts := strings.SplitN(value, "_", 3)
	if len(value) > 256 || len(parts) != 3 || parts[0] != "pt" {
		return nil, errToken
	}
	hash := hashOf(value)
	t.mu.Lock()
	defer t.mu.Unlock()
	tk, ok := t.find(parts[1])
	if !ok || subtle.ConstantTimeCompare([]byte(tk.Hash), []byte(hash)) != 1 || tk.Port != "" && tk.Port != port {
		return nil, errToken
	}
	r, err := parseRole(tk.Role)
	if err != nil {
		return nil, errToken
	}
	t.use(tk.ID)
	return tk.principal(r), nil
}

// principal returns the holder of the token.
func (tk *token) principal(r role) *principal {
	return &principal{id: tk.ID, name: tk.Name, account: cmp.Or(tk.Account, tk.ID), tenant: tk.Tenant, role: r, session: tk.Session,
		agentOf: tk.AgentOf, answers: tk.Answers, cookie: tk.Parent != ""}
}

// use records the use of a token; a cookie counts as a use of its token. The caller holds the lock.
func (t *tokens) use(id string) {
	if tk, ok := t.find(id); ok {
		t.used[cmp.Or(tk.Parent, tk.ID)] = t.now()
	}
}

// holds returns the role of a valid token or cookie by its id, or roleNone.
func (t *tokens) holds(id string) role {
	t.mu.Lock()
	defer t.mu.Unlock()
	tk, _ := t.find(id)
	r, err := parseRole(tk.Role)
	if err != nil || tk.Session != "" {
		return roleNone
	}
	return r
}

// exchange creates a cookie from a token. It expires with the token.
func (t *tokens) exchange(value, port string) (cookie string, age time.Duration, err error) {
	p, err := t.check(value, port)
	if err == nil && (p.agentOf != "" || p.role == roleHost || p.cookie) {
		err = errToken // agents and machines have no page, and a cookie of a cookie would outlive the token
	}
	if err != nil {
		return "", 0, err
	}
	t.mu.Lock()
	of, _ := t.find(p.id)
	t.mu.Unlock()
	age = cookieAge
	if !of.Expires.IsZero() {
		age = min(age, of.Expires.Sub(t.now()))
	}
	_, cookie, err = t.create(token{Name: p.name, Role: p.role.String(), Session: p.session, Parent: p.id, Account: p.account, Tenant: p.tenant, Port: of.Port, Node: of.Node}, age)
	return cookie, age, err
}
