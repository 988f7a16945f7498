// The whole suite in one process, so that its files share one browser and one server. The
// last one kills the server.

import "./speed.test.mjs";
import "./safe.test.mjs";
import "./work.test.mjs";
import "./changes.test.mjs";
import "./usage.test.mjs";
import "./panels.test.mjs";
import "./preview.test.mjs";
import "./claude.test.mjs";
