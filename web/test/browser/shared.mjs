// The browser and the server that all files of the suite share.

import { after } from "node:test";
import { launch, Server, withCLI } from "./driver.mjs";

export const shared = {
  browser: await launch(),
  server: await new Server(undefined, undefined, withCLI()).start(),
};

after(async () => {
  await shared.browser.close();
  await shared.server.stop();
});
