// Drives the official clients of AG-UI and of the AI SDK: node run.mjs MODULES URL TOKEN PROTOCOL.
// It prints what each scene has shown as JSON.
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const [modules, url, token, protocol] = process.argv.slice(2)
const load = (path) => import(pathToFileURL(join(modules, path)).href)
const headers = { Authorization: `Bearer ${token}` }

let place // where the stream stands
let cut // the stream breaks when this returns true for a place

// frames cuts a text into whole events, so that an id goes with its data.
function frames() {
	let rest = ""
	return new TransformStream({
		transform(chunk, out) {
			const all = (rest + chunk).split("\n\n")
			rest = all.pop()
			for (const one of all) out.enqueue(one + "\n\n")
		},
	})
}

let shown = ""
async function placed(address, init) {
	const response = await fetch(address, init)
	const seen = new TransformStream({
		transform(chunk, out) {
			for (const line of chunk.matchAll(/^id: (.*)\n/gm)) place = line[1]
			shown += chunk
			out.enqueue(chunk)
			if (cut?.()) {
				cut = undefined
				out.terminate() // the connection breaks
			}
		},
	})
	const body = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(frames()).pipeThrough(seen).pipeThrough(new TextEncoderStream())
	return new Response(body, { status: response.status, headers: response.headers })
}

const interrupt = async () => {
	const post = (method, params) =>
		fetch(`${url}/v1/${method}`, { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(params) }).then((r) => r.json())
	const { sessions } = await post("session.list", { state: "running" })
	for (const s of sessions) await post("session.interrupt", { session_id: s.session_id })
}

// until resolves when a condition holds; it is looked at after each piece of a stream.
const until = async (ok) => {
	while (!ok()) await new Promise((done) => setImmediate(done))
}

// agui is a client of AG-UI for one thread.
async function agui() {
	const { HttpAgent } = await load("@ag-ui/client/dist/index.mjs")
	return (thread) => {
		const agent = new HttpAgent({ url: `${url}/v1/agui`, headers, threadId: thread, fetch: placed })
		let outcome
		const run = async (more) => {
			outcome = undefined
			await agent.runAgent(more, { onRunFinishedEvent: ({ event }) => void (outcome = event.outcome?.type), onRunErrorEvent: () => void (outcome = "error") })
		}
		return {
			send: (text) => {
				agent.addMessage({ id: "m1", role: "user", content: text })
				return run({})
			},
			answer: (approved) => run({ resume: agent.pendingInterrupts.map((i) => ({ interruptId: i.id, status: "resolved", payload: { approved } })) }),
			resume: () => run({ forwardedProps: { after: place } }),
			asks: () => agent.pendingInterrupts.length > 0,
			folded: () => ({
				outcome,
				text: agent.messages.filter((m) => m.role === "assistant").map((m) => m.content ?? "").join(""),
				tools: agent.messages.flatMap((m) => m.toolCalls ?? []).map((c) => `${c.function.name} ${c.function.arguments}`),
				results: agent.messages.filter((m) => m.role === "tool").map((m) => m.content),
			}),
		}
	}
}

// aisdk is a client of the AI SDK for one chat.
async function aisdk() {
	const { AbstractChat, DefaultChatTransport } = await load("ai/dist/index.js")
	class State {
		status = "ready"
		error
		messages = []
		pushMessage = (m) => (this.messages = this.messages.concat(m))
		popMessage = () => (this.messages = this.messages.slice(0, -1))
		replaceMessage = (i, m) => (this.messages = this.messages.with(i, structuredClone(m)))
		snapshot = (x) => structuredClone(x)
	}
	class Chat extends AbstractChat {}
	return (thread) => {
		const state = new State()
		let outcome
		const transport = new DefaultChatTransport({
			api: `${url}/v1/aisdk`,
			headers,
			fetch: placed,
			prepareReconnectToStreamRequest: ({ api, id }) => ({ api: `${api}/${id}/stream?after=${place}`, headers }),
		})
		const chat = new Chat({
			id: thread,
			state,
			transport,
			// a stream that ends with abort has no finish reason
			onFinish: (f) => void (outcome = f.isError || f.isDisconnect ? "error" : (f.finishReason ?? "cancelled")),
		})
		const tools = () => state.messages.flatMap((m) => m.parts).filter((p) => p.type === "dynamic-tool")
		const check = (expected) => {
			if (state.error && !expected) throw state.error
		}
		return {
			send: async (text) => {
				await chat.sendMessage({ text })
				check(cut === undefined && place)
			},
			answer: async (approved) => {
				for (const p of tools().filter((p) => p.state === "approval-requested")) await chat.addToolApprovalResponse({ id: p.approval.id, approved })
				await chat.sendMessage()
				check()
			},
			resume: async () => {
				chat.clearError()
				await chat.resumeStream()
				check()
			},
			asks: () => tools().some((p) => p.state === "approval-requested"),
			folded: () => ({
				outcome: { stop: "success" }[outcome] ?? outcome,
				text: state.messages.filter((m) => m.role === "assistant").flatMap((m) => m.parts).filter((p) => p.type === "text").map((p) => p.text).join(""),
				tools: tools().map((p) => `${p.toolName} ${JSON.stringify(p.input)}`),
				results: tools().map((p) => p.output ?? p.errorText),
			}),
		}
	}
}

const open = await { agui, aisdk }[protocol]()
const scenes = {
	text: async (c) => c.send("say hello from the agent"),
	tool: async (c) => c.send("auto Bash"),
	allow: async (c) => {
		await c.send("tool Bash")
		if (!c.asks()) throw new Error("there is no request")
		await c.answer(true)
	},
	reject: async (c) => {
		await c.send("tool Bash")
		if (!c.asks()) throw new Error("there is no request")
		await c.answer(false)
	},
	cancel: async (c) => {
		shown = ""
		const done = c.send("wait")
		await until(() => shown.includes("id: "))
		await interrupt()
		await done
	},
	reconnect: async (c) => {
		shown = ""
		cut = () => shown.length > 2000 && /id: /.test(shown)
		await c.send("count 200").catch(() => {})
		const before = c.folded().text.length
		if (before === 0) throw new Error("the stream broke before it had a text")
		await c.resume()
	},
}
const results = {}
for (const [name, scene] of Object.entries(scenes)) {
	const client = open(`${protocol}-${name}`)
	await scene(client)
	results[name] = client.folded()
}
console.log(JSON.stringify(results))
process.exit(0)
