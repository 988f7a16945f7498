// The browser and the servers that the files of one process share.

import { after } from "node:test";
import { launch, Server, withCLI } from "./driver.mjs";
import { gitServer, seedUsage } from "./work.mjs";

const [browser, server, git] = await Promise.all([
  launch(),
  new Server(undefined, undefined, withCLI()).start(),
  gitServer(),
]);

/** Its server is another one after a test has killed it; git is one with a repository and twelve days of usage. */
export const shared = { browser, server, git };
seedUsage(git, 12, (back) => 20_000 * (back + 1));

after(async () => {
  await shared.browser.close();
  await Promise.all([shared.server.stop(), shared.git.stop()]);
});
