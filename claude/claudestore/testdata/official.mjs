// Runs calls of the official SDK's store in memory: a call a line, an answer a line.
import readline from 'node:readline';
const { InMemorySessionStore } = await import(process.env.OFFICIAL_SDK);
let store = new InMemorySessionStore();
const calls = {
	reset: async () => { store = new InMemorySessionStore(); return null; },
	append: async (c) => { await store.append(c.key, c.entries); return null; },
	load: (c) => store.load(c.key),
	sessions: async (c) => (await store.listSessions(c.key.projectKey)).map((s) => s.sessionId).sort(),
	newest: async (c) => (await store.listSessions(c.key.projectKey)).sort((a, b) => b.mtime - a.mtime).map((s) => s.sessionId),
	subkeys: async (c) => (await store.listSubkeys(c.key)).sort(),
	summaries: async (c) => Object.fromEntries((await store.listSessionSummaries(c.key.projectKey)).map((s) => [s.sessionId, s.data])),
	delete: async (c) => { await store.delete(c.key); return null; },
};
for await (const line of readline.createInterface({ input: process.stdin })) {
	const call = JSON.parse(line);
	process.stdout.write(JSON.stringify(await calls[call.op](call)) + '\n');
}
