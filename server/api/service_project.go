package api

// ProjectsListParams requests folders in which a session can start. Query is part of a folder's
// name; Path requests only one folder, with its branches.
type ProjectsListParams struct {
	Query   string `json:"query,omitempty"`
	Path    string `json:"path,omitempty"`
	Limit   int64  `json:"limit,omitempty"`
	Machine string `json:"machine,omitempty"` // a machine that has joined; empty is the server's
}

// ProjectsListResult lists the folders of recent sessions, newest first, and other folders below the roots, each folder once.
type ProjectsListResult struct {
	Roots   []string  `json:"roots"`
	Recent  []Project `json:"recent"`
	Folders []Project `json:"folders"`
}

// Project is a folder in which a session can start. Branch is empty for a detached HEAD.
type Project struct {
	Path     string   `json:"path"`
	Git      bool     `json:"git,omitempty"`      // the folder is the top of a working tree
	Branch   string   `json:"branch,omitempty"`   // of the working tree that contains it
	Branches []string `json:"branches,omitempty"` // only if Path was set
}
