package claude

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Sandbox configures the sandbox in which commands run. Nil members are not passed. With
// Enabled the CLI refuses to start if the machine has no sandbox, unless FailIfUnavailable is
// false.
type Sandbox struct {
	Enabled                      *bool               `json:"enabled,omitempty"`
	FailIfUnavailable            *bool               `json:"failIfUnavailable,omitempty"`
	AutoAllowBashIfSandboxed     *bool               `json:"autoAllowBashIfSandboxed,omitempty"`
	AllowUnsandboxedCommands     *bool               `json:"allowUnsandboxedCommands,omitempty"`
	ExcludedCommands             []string            `json:"excludedCommands,omitempty"`
	EnableWeakerNestedSandbox    *bool               `json:"enableWeakerNestedSandbox,omitempty"`
	AllowNestedUserNamespaces    *bool               `json:"allowNestedUserNamespaces,omitempty"`
	EnableWeakerNetworkIsolation *bool               `json:"enableWeakerNetworkIsolation,omitempty"`
	AllowAppleEvents             *bool               `json:"allowAppleEvents,omitempty"`
	BwrapPath                    string              `json:"bwrapPath,omitempty"`
	SocatPath                    string              `json:"socatPath,omitempty"`
	Ripgrep                      message.JSON        `json:"ripgrep,omitempty"`
	IgnoreViolations             map[string][]string `json:"ignoreViolations,omitempty"`
	Network                      *SandboxNetwork     `json:"network,omitempty"`
	Filesystem                   *SandboxFilesystem  `json:"filesystem,omitempty"`
	Credentials                  message.JSON        `json:"credentials,omitempty"`

	// Other holds members that this package does not know.
	Other map[string]message.JSON `json:"-"`
}

// SandboxNetwork configures the domains, sockets and ports that commands in the sandbox may
// reach. Nil members are left to the CLI.
type SandboxNetwork struct {
	AllowedDomains          []string     `json:"allowedDomains,omitzero"`
	DeniedDomains           []string     `json:"deniedDomains,omitzero"`
	StrictAllowlist         *bool        `json:"strictAllowlist,omitempty"`
	AllowManagedDomainsOnly *bool        `json:"allowManagedDomainsOnly,omitempty"`
	AllowUnixSockets        []string     `json:"allowUnixSockets,omitzero"`
	AllowAllUnixSockets     *bool        `json:"allowAllUnixSockets,omitempty"`
	AllowLocalBinding       *bool        `json:"allowLocalBinding,omitempty"`
	AllowMachLookup         []string     `json:"allowMachLookup,omitzero"`
	HTTPProxyPort           *int         `json:"httpProxyPort,omitempty"`
	SOCKSProxyPort          *int         `json:"socksProxyPort,omitempty"`
	TLSTerminate            message.JSON `json:"tlsTerminate,omitempty"`
}

// SandboxFilesystem configures the paths that commands in the sandbox may read and write. Nil
// members are left to the CLI.
type SandboxFilesystem struct {
	AllowWrite                []string `json:"allowWrite,omitzero"`
	DenyWrite                 []string `json:"denyWrite,omitzero"`
	DenyRead                  []string `json:"denyRead,omitzero"`
	AllowRead                 []string `json:"allowRead,omitzero"`
	AllowManagedReadPathsOnly *bool    `json:"allowManagedReadPathsOnly,omitempty"`
	Disabled                  *bool    `json:"disabled,omitempty"`
}

// object is a JSON object.
type object = map[string]any

// settings returns Settings overridden by Sandbox.
func (l *launch) settings() (string, error) {
	if l.Sandbox == nil {
		return l.Settings, nil
	}
	all := object{}
	if s := strings.TrimSpace(l.Settings); s != "" {
		if err := json.Unmarshal([]byte(s), &all); err != nil {
			return "", fmt.Errorf("claude: Settings: %w", err)
		}
	}
	option, err := l.Sandbox.object()
	if err != nil {
		return "", fmt.Errorf("claude: Sandbox: %w", err)
	}
	base, _ := all["sandbox"].(object)
	all["sandbox"] = mergeSandbox(base, option)
	out, err := jsonwire.Marshal(all)
	return string(out), err
}

func (s *Sandbox) object() (object, error) {
	text, err := jsonwire.Marshal(s)
	if err != nil {
		return nil, err
	}
	out := object{}
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, err
	}
	for k, v := range s.Other {
		out[k] = v.Value()
	}
	return out, nil
}

// mergeSandbox merges the option into the settings, by the rules of the official SDK: the
// option wins, denials are combined, and settings that would undo the option are removed.
func mergeSandbox(base, option object) object {
	base = loosened(base, option)
	out := mergeObject("", base, option)
	if out["enabled"] == true {
		if _, set := out["failIfUnavailable"]; !set {
			out["failIfUnavailable"] = true
		}
	}
	return out
}

// unioned are lists that are combined; replaced are objects that are not merged.
var (
	unioned  = []string{"filesystem.denyRead", "filesystem.denyWrite", "network.deniedDomains", "credentials.files", "credentials.envVars"}
	replaced = []string{"ripgrep", "network.tlsTerminate"}
)

func mergeObject(path string, base, option object) object {
	out := maps.Clone(base)
	if out == nil {
		out = object{}
	}
	for k, v := range option {
		at := strings.TrimPrefix(path+"."+k, ".")
		switch {
		case k == "__proto__" || k == "constructor" || k == "prototype":
		case slices.Contains(unioned, at):
			out[k] = union(out[k], v)
		case slices.Contains(replaced, at):
			out[k] = v
		default:
			out[k] = mergeValue(at, out[k], v)
		}
	}
	return out
}

func mergeValue(path string, base, option any) any {
	b, ok1 := base.(object)
	o, ok2 := option.(object)
	if ok1 && ok2 {
		return mergeObject(path, b, o)
	}
	return option
}

func union(base, option any) any {
	b, _ := base.([]any)
	o, ok := option.([]any)
	if !ok {
		return option
	}
	out := append([]any{}, b...)
	for _, v := range o {
		known := false
		for _, x := range out {
			known = known || reflect.DeepEqual(x, v)
		}
		if !known {
			out = append(out, v)
		}
	}
	return out
}

// loosened returns the settings without members that would undo the option's restrictions: an
// unrestricted file system, another proxy.
func loosened(base, option object) object {
	base = maps.Clone(base)
	fs, _ := option["filesystem"].(object)
	_, ownDisabled := fs["disabled"]
	if base := child(base, "filesystem"); base["disabled"] == true && (fs != nil && !ownDisabled || deniesFiles(option)) {
		delete(base, "disabled")
	}
	net, _ := option["network"].(object)
	if restrictsNetwork(net) {
		for _, port := range []string{"httpProxyPort", "socksProxyPort"} {
			if _, own := net[port]; !own {
				delete(child(base, "network"), port)
			}
		}
	}
	return base
}

// child returns a copy of an object member and stores it in parent.
func child(parent object, key string) object {
	c, ok := parent[key].(object)
	if !ok {
		return nil
	}
	c = maps.Clone(c)
	parent[key] = c
	return c
}

func deniesFiles(option object) bool {
	cred, _ := option["credentials"].(object)
	files, _ := cred["files"].([]any)
	return slices.ContainsFunc(files, func(f any) bool {
		o, ok := f.(object)
		return ok && o["mode"] == "deny"
	})
}

func restrictsNetwork(net object) bool {
	denied, _ := net["deniedDomains"].([]any)
	_, allowed := net["allowedDomains"]
	return allowed || len(denied) > 0 || net["strictAllowlist"] == true
}
