CREATE TABLE IF NOT EXISTS $sessions (
	project text NOT NULL,
	session text NOT NULL,
	claim   bigint NOT NULL DEFAULT 0,
	mtime   timestamptz, -- of the main transcript, null while there is none
	summary json,
	PRIMARY KEY (project, session)
);
CREATE TABLE IF NOT EXISTS $entries (
	project text NOT NULL,
	session text NOT NULL,
	subpath text NOT NULL, -- empty for the main transcript
	id      bigint GENERATED ALWAYS AS IDENTITY,
	uuid    text,
	entry   json NOT NULL, -- not jsonb: that takes no NUL and orders members anew
	PRIMARY KEY (project, session, subpath, id)
);
CREATE UNIQUE INDEX IF NOT EXISTS $uuids ON $entries (project, session, subpath, uuid) WHERE uuid IS NOT NULL;
CREATE SEQUENCE IF NOT EXISTS $claims
