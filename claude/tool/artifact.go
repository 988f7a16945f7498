package tool

import "github.com/seed7221b0f9/parley/claude/message"

// ArtifactInput is the input of Artifact, which publishes pages and manages them. Action decides
// which of the other members are set.
type ArtifactInput struct {
	Action       string       `json:"action,omitempty"` // publish (also ""), list, read, list_types, watch, unwatch, status, upload_asset, list_assets, read_asset, delete_asset, pin, unpin
	FilePath     string       `json:"file_path,omitempty"`
	Favicon      string       `json:"favicon,omitempty"` // the older name of Icon
	Icon         string       `json:"icon,omitempty"`
	Limit        *int64       `json:"limit,omitempty"`
	PageToken    string       `json:"page_token,omitempty"`
	Scope        string       `json:"scope,omitempty"` // mine, shared, all
	Title        string       `json:"title,omitempty"`
	Description  string       `json:"description,omitempty"`
	Label        string       `json:"label,omitempty"`
	URL          string       `json:"url,omitempty"`
	Prompt       string       `json:"prompt,omitempty"`
	Force        bool         `json:"force,omitempty"`
	Pin          *bool        `json:"pin,omitempty"`
	OutDir       string       `json:"out_dir,omitempty"`
	FilePaths    []string     `json:"file_paths,omitempty"`
	AssetID      string       `json:"asset_id,omitempty"`
	After        string       `json:"after,omitempty"`
	Capabilities message.JSON `json:"capabilities,omitempty"` // an object
	Contract     string       `json:"contract,omitempty"`     // latest, or a version
}

// ArtifactResult is the result of Artifact. The members are grouped by action, and only those of
// the call's action are set.
type ArtifactResult struct {
	// publish
	URL                string          `json:"url,omitempty"`
	Path               string          `json:"path,omitempty"`
	ArtifactID         string          `json:"artifact_id,omitempty"`
	Title              string          `json:"title,omitempty"`
	Version            string          `json:"version,omitempty"`
	Capabilities       message.JSON    `json:"capabilities,omitempty"`
	Stored             *ArtifactStored `json:"stored,omitempty"`
	Warnings           []string        `json:"warnings,omitempty"`
	PublishesRemaining *int64          `json:"publishesRemaining,omitempty"`
	PublishesResetAt   *int64          `json:"publishesResetAt,omitempty"`
	Contract           string          `json:"contract,omitempty"`
	Updated            *bool           `json:"updated,omitempty"`
	Owned              *bool           `json:"owned,omitempty"` // also read and the assets
	Icon               string          `json:"icon,omitempty"`
	FaviconSent        bool            `json:"faviconSent,omitempty"`
	IconDropped        bool            `json:"iconDropped,omitempty"`
	Audience           string          `json:"audience,omitempty"`
	Seq                *int64          `json:"seq,omitempty"`
	Unchanged          bool            `json:"unchanged,omitempty"`
	LiveSubscription   string          `json:"liveSubscription,omitempty"`
	Pinned             *bool           `json:"pinned,omitempty"`

	// list
	Artifacts      []ListedArtifact `json:"artifacts,omitzero"`
	Truncated      bool             `json:"truncated,omitempty"`
	Total          *int64           `json:"total,omitempty"`
	TotalAtLeast   bool             `json:"total_at_least,omitempty"`
	NextPageToken  string           `json:"next_page_token,omitempty"`
	PinsEnabled    *bool            `json:"pins_enabled,omitempty"`
	Scope          string           `json:"scope,omitempty"` // shared, all
	ExternalListed bool             `json:"external_listed,omitempty"`

	// read
	Read         *ArtifactContent `json:"read,omitempty"`
	ArtifactRead *ArtifactRead    `json:"artifactRead,omitempty"`

	// watch, unwatch, status
	Watch     *ArtifactWatch    `json:"watch,omitempty"`
	Unwatch   *ArtifactUnwatch  `json:"unwatch,omitempty"`
	Watches   []WatchedArtifact `json:"watches,omitzero"`
	FilterURL string            `json:"filter_url,omitempty"`
	Arms      []ArtifactArm     `json:"arms,omitempty"`

	// upload_asset, list_assets, read_asset, delete_asset
	Written      *ArtifactURL       `json:"written,omitempty"`
	AssetUpload  *ArtifactAsset     `json:"asset_upload,omitempty"`  // one file
	AssetUploads *ArtifactUploads   `json:"asset_uploads,omitempty"` // several files
	AssetList    *ArtifactAssetList `json:"asset_list,omitempty"`
	AssetRead    *ArtifactAsset     `json:"asset_read,omitempty"`
	AssetDelete  *ArtifactAssetGone `json:"asset_delete,omitempty"`

	// pin, unpin
	Pin *ArtifactPin `json:"pin,omitempty"`
}

// ArtifactStored describes a stored artifact: its contract and its capabilities.
type ArtifactStored struct {
	Contract          string       `json:"contract"`
	PreferredContract string       `json:"preferredContract,omitempty"`
	Capabilities      message.JSON `json:"capabilities,omitempty"`
	Carried           *bool        `json:"carried,omitempty"`
	Read              string       `json:"read,omitempty"`
}

// ListedArtifact is one artifact in a list: its title and address, and whether the user owns it.
type ListedArtifact struct {
	Title                   string `json:"title"`
	URL                     string `json:"url"`
	Favicon                 string `json:"favicon,omitempty"`
	UpdatedAt               string `json:"updatedAt,omitempty"`
	Rel                     string `json:"rel,omitempty"` // mine, shared
	External                bool   `json:"external,omitempty"`
	Role                    string `json:"role,omitempty"` // editor, commenter, reader, viewer
	OutsidersMayHaveWritten bool   `json:"outsidersMayHaveWritten,omitempty"`
	Pinned                  *bool  `json:"pinned,omitempty"`
}

// ArtifactContent is an artifact that was fetched over HTTP: its address, the status of the
// answer, and the result.
type ArtifactContent struct {
	URL        string `json:"url"`
	Bytes      int64  `json:"bytes"`
	Code       int64  `json:"code"` // the status of HTTP
	CodeText   string `json:"codeText"`
	Result     string `json:"result"`
	DurationMS int64  `json:"durationMs"`
	Title      string `json:"title,omitempty"`
}

// ArtifactWatch reports whether an artifact is being watched from now on, and if not, the
// reason.
type ArtifactWatch struct {
	URL               string   `json:"url"`
	Watching          bool     `json:"watching"`
	Outcome           string   `json:"outcome"`
	Reason            string   `json:"reason,omitempty"`
	DurableSkipReason string   `json:"durable_skip_reason,omitempty"`
	TaskID            string   `json:"task_id,omitempty"`
	Since             *int64   `json:"since,omitempty"`
	TokenExpiresAt    *int64   `json:"token_expires_at,omitempty"`
	Rail              string   `json:"rail,omitempty"`
	TriggerID         string   `json:"trigger_id,omitempty"`
	DurableSince      string   `json:"durable_since,omitempty"`
	Status            *int64   `json:"status,omitempty"`
	Detail            string   `json:"detail,omitempty"`
	Note              string   `json:"note,omitempty"`
	Events            []string `json:"events,omitempty"`
}

// ArtifactUnwatch reports that an artifact is not watched any more, and whether it had been
// watched before.
type ArtifactUnwatch struct {
	URL         string `json:"url"`
	WasWatching bool   `json:"was_watching"`
}

// WatchedArtifact is an artifact that is being watched. Rail is the kind of watch and decides
// which members are set.
type WatchedArtifact struct {
	URL            string       `json:"url"`
	Rail           string       `json:"rail,omitempty"` // durable_wake, live_stopped; "": live
	TaskID         string       `json:"task_id,omitempty"`
	Since          message.JSON `json:"since,omitempty"` // a string for durable_wake, else a number
	Explicit       *bool        `json:"explicit,omitempty"`
	Connected      *bool        `json:"connected,omitempty"`
	Connecting     *bool        `json:"connecting,omitempty"`
	TokenExpiresAt *int64       `json:"token_expires_at,omitempty"`
	ArmedVia       string       `json:"armed_via,omitempty"`
	TriggerID      string       `json:"trigger_id,omitempty"`
	Events         []string     `json:"events,omitempty"`
	Restored       *bool        `json:"restored,omitempty"`
	StopKind       string       `json:"stop_kind,omitempty"`
}

// ArtifactArm is an attempt to watch an artifact: its state, and how often it failed so far.
type ArtifactArm struct {
	URL           string   `json:"url"`
	Rail          string   `json:"rail,omitempty"`
	State         string   `json:"state"`
	Reconnect     *bool    `json:"reconnect,omitempty"`
	Failures      *int64   `json:"failures,omitempty"`
	MaxFailures   *int64   `json:"max_failures,omitempty"`
	NextInS       *float64 `json:"next_in_s,omitempty"`
	LastFailure   string   `json:"last_failure,omitempty"`
	Reason        string   `json:"reason,omitempty"`
	Detail        string   `json:"detail,omitempty"`
	ServerMessage string   `json:"server_message,omitempty"`
	At            *int64   `json:"at,omitempty"`
}

// ArtifactURL names an artifact by its address. It is the result of actions that report only the
// address.
type ArtifactURL struct {
	URL string `json:"url"`
}

// ArtifactAsset is a file attached to an artifact. The action decides which members are set:
// their comments list the actions.
type ArtifactAsset struct {
	ID            string `json:"id"`
	URL           string `json:"url,omitempty"`  // upload, list
	Path          string `json:"path,omitempty"` // read
	SizeBytes     int64  `json:"size_bytes"`
	ContentType   string `json:"content_type"`
	SHA256        string `json:"sha256,omitempty"`
	FileName      string `json:"file_name,omitempty"`  // upload
	CreatedAt     string `json:"created_at,omitempty"` // list
	Cowritten     bool   `json:"cowritten,omitempty"`  // read
	OutsideWriter bool   `json:"outside_writer,omitempty"`
	PublicRead    bool   `json:"public_read,omitempty"`
	Foreign       bool   `json:"foreign,omitempty"`
}

// ArtifactUploads reports the outcome of uploading several files to an artifact, for each file.
type ArtifactUploads struct {
	URL     string           `json:"url"`
	Results []ArtifactUpload `json:"results"`
}

// ArtifactUpload reports the outcome for one of several uploaded files. Status decides which of
// the other members are set.
type ArtifactUpload struct {
	FilePath    string `json:"file_path"`
	Status      string `json:"status"` // uploaded, failed, not_attempted
	ID          string `json:"id,omitempty"`
	URL         string `json:"url,omitempty"`
	SizeBytes   *int64 `json:"size_bytes,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	SHA256      string `json:"sha256,omitempty"`
	FileName    string `json:"file_name,omitempty"`
	Reason      string `json:"reason,omitempty"`
	Message     string `json:"message,omitempty"`
	MayBeStored bool   `json:"may_be_stored,omitempty"`
}

// ArtifactAssetList is one page of the list of an artifact's files, with the space that they
// use.
type ArtifactAssetList struct {
	URL           string             `json:"url"`
	Assets        []ArtifactAsset    `json:"assets"`
	Usage         ArtifactAssetUsage `json:"usage"`
	Next          string             `json:"next,omitempty"`
	Cowritten     bool               `json:"cowritten,omitempty"`
	OutsideWriter bool               `json:"outside_writer,omitempty"`
}

// ArtifactAssetUsage is the number and the size of the files attached to an artifact, and the
// limits for both.
type ArtifactAssetUsage struct {
	Files    int64 `json:"files"`
	Bytes    int64 `json:"bytes"`
	MaxFiles int64 `json:"max_files"`
	MaxBytes int64 `json:"max_bytes"`
}

// ArtifactAssetGone reports whether a file of an artifact was deleted, with the id of the file.
type ArtifactAssetGone struct {
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
}

// ArtifactPin reports whether an artifact is pinned after the action.
type ArtifactPin struct {
	Action string `json:"action"` // pin, unpin
	URL    string `json:"url"`
	Pinned bool   `json:"pinned"`
	Title  string `json:"title,omitempty"`
}
