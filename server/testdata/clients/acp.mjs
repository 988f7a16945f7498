// Drives the official client of ACP over HTTP or WebSocket: node acp.mjs MODULES URL TOKEN TRANSPORT DIRECTORY.
// It prints what each scene has shown as JSON.
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const [modules, url, token, transport, cwd] = process.argv.slice(2)
const load = (path) => import(pathToFileURL(join(modules, path)).href)
const headers = { Authorization: `Bearer ${token}` }
const acp = await load("@agentclientprotocol/sdk/dist/v1/stable/acp.js")
const { createHttpStream } = await load("@agentclientprotocol/sdk/dist/transports/http-stream.js")
const { createWebSocketStream } = await load("@agentclientprotocol/sdk/dist/transports/ws-stream.js")
const { WebSocket } = await load("ws/wrapper.mjs")

let stage = "start"
setTimeout(() => {
	process.stderr.write(`nothing happened in ${stage}\n`)
	process.exit(1)
}, 60_000).unref()

const complaints = []
console.error = console.warn = (...args) => complaints.push(args.map(String).join(" "))

// connect is a client: what it is shown, and how it answers.
async function connect(answer) {
	const updates = []
	const app = acp
		.client()
		.onRequest("session/request_permission", ({ params }) => {
			const option = params.options.find((o) => o.kind === answer) ?? params.options[0]
			return { outcome: { outcome: "selected", optionId: option.optionId } }
		})
		.onNotification("session/update", ({ params }) => void updates.push(params.update))
	const stream = transport === "ws" ? createWebSocketStream(`${url.replace("http", "ws")}/acp`, { headers, WebSocket }) : createHttpStream(`${url}/acp`, { headers })
	const connection = app.connect(stream)
	const request = (method, params) => connection.agent.request(method, params)
	await request("initialize", { protocolVersion: 1, clientCapabilities: {} })
	const text = () => updates.filter((u) => u.sessionUpdate === "agent_message_chunk").map((u) => u.content.text).join("")
	return {
		updates, request, text, connection,
		open: async () => (await request("session/new", { cwd, mcpServers: [] })).sessionId,
		prompt: (sessionId, words) => request("session/prompt", { sessionId, prompt: [{ type: "text", text: words }] }),
		until: async (ok) => {
			while (!ok()) await new Promise((done) => setImmediate(done))
		},
		close: () => connection.close?.(),
	}
}

const shown = {}
async function scene(name, answer, words) {
	stage = name
	const c = await connect(answer)
	const id = await c.open()
	const { stopReason } = await c.prompt(id, words)
	const calls = {}
	for (const u of c.updates.filter((u) => u.toolCallId)) {
		calls[u.toolCallId] = { ...calls[u.toolCallId], ...Object.fromEntries(Object.entries(u).filter(([, v]) => v != null)) }
	}
	shown[name] = {
		outcome: stopReason, text: c.text(),
		tools: Object.values(calls).map((t) => `${t.name ?? t.title} ${JSON.stringify(t.rawInput)}`),
		results: Object.values(calls).map((t) => t.status),
	}
	await c.close()
}
await scene("text", "allow_once", "say hello from the agent")
await scene("tool", "allow_once", "auto Bash")
await scene("allow", "allow_once", "tool Bash")
await scene("reject", "reject_once", "tool Bash")

{
	stage = "cancel"
	const c = await connect()
	const id = await c.open()
	const turn = c.prompt(id, "wait")
	await c.until(() => c.updates.some((u) => u.sessionUpdate === "agent_message_chunk"))
	await c.connection.agent.notify("session/cancel", { sessionId: id })
	shown.cancel = { outcome: (await turn).stopReason, text: "", tools: [], results: [] }
	await c.close()
}
{
	stage = "reconnect"
	// A client that goes in the middle of a turn, and one that takes its place.
	const gone = await connect()
	const id = await gone.open()
	gone.prompt(id, "count 200").catch(() => {})
	await gone.until(() => gone.text().length > 100)
	await gone.close()
	const c = await connect()
	await c.request("session/load", { sessionId: id, cwd, mcpServers: [] })
	await c.until(() => c.text().endsWith(" w200"))
	shown.reconnect = { outcome: "end_turn", text: c.text(), tools: [], results: [] }
	await c.close()
}
shown.complaints = { outcome: complaints.filter((c) => !c.includes("closed")).join("; "), text: "", tools: [], results: [] }
console.log(JSON.stringify(shown))
process.exit(0)
