// The second half, with a separate browser and server. The last file kills the server.

import "./changes.test.mjs";
import "./figures.test.mjs";
import "./usage.test.mjs";
import "./new.test.mjs";
import "./search.test.mjs";
import "./panels.test.mjs";
import "./docs.test.mjs";
import "./settings.test.mjs";
import "./sessions.test.mjs";
import "./phone.test.mjs";
import "./fit.test.mjs";
import "./looks.test.mjs";
import "./views.test.mjs";
import "./first.test.mjs";
import "./recordings.test.mjs";
import "./preview.test.mjs";
import "./client.test.mjs";
import "./agents.test.mjs";
import "./box.test.mjs";
import "./claude.test.mjs";
