// Half of the suite in one process, so that its files share one browser and one server.

import "./safe.test.mjs";
import "./work.test.mjs";
import "./requests.test.mjs";
import "./typing.test.mjs";
import "./approve.test.mjs";
import "./host.test.mjs";
import "./machines.test.mjs";
import "./elsewhere.test.mjs";
