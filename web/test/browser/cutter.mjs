// A proxy between a machine and its server; the test cuts its connections.

import { connect, createServer } from "node:net";

export class Cutter {
  #sockets = new Set();
  #open = true;

  /** Listens, and leads to the address that to returns. */
  async start(to) {
    this.server = createServer((client) => {
      if (!this.#open) return client.destroy();
      const [host, port] = to().split(":");
      const up = connect(Number(port), host);
      for (const [a, b] of [
        [client, up],
        [up, client],
      ]) {
        this.#sockets.add(a);
        a.pipe(b);
        a.on("error", () => b.destroy());
        a.on("close", () => {
          this.#sockets.delete(a);
          b.destroy();
        });
      }
    });
    await new Promise((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  cut() {
    this.#open = false;
    for (const s of this.#sockets) s.destroy();
  }

  mend() {
    this.#open = true;
  }

  stop() {
    this.cut();
    this.server?.close(); // a filter may leave no test to start it
  }
}
