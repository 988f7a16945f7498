"""Drives the Python client of the Agent Client Protocol: client.py DIRECTORY AGENT [ARGUMENT...].

It prints what each scene has shown as JSON.
"""

import asyncio
import json
import os
import sys

import acp
from acp.schema import AllowedOutcome, RequestPermissionResponse

LIMIT = 120


class Client:
    """Keeps what it is shown and answers requests with options of one kind."""

    def __init__(self, answer):
        self.answer = answer
        self.texts = []
        self.calls = {}
        self.changed = asyncio.Event()

    async def request_permission(self, session_id, tool_call, options, **kwargs):
        picked = next((o for o in options if o.kind == self.answer), options[0])
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=picked.option_id))

    async def session_update(self, session_id, update, **kwargs):
        if update.session_update == "agent_message_chunk":
            self.texts.append(update.content.text)
        if getattr(update, "tool_call_id", None):
            call = self.calls.setdefault(update.tool_call_id, {})
            call.update({k: v for k, v in update.model_dump().items() if v is not None})
        self.changed.set()

    def on_connect(self, conn):
        pass

    @property
    def text(self):
        return "".join(self.texts)

    async def until(self, ok):
        while not ok():
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), LIMIT)


def connect(client):
    return acp.stdio.spawn_agent_process(client, sys.argv[2], *sys.argv[3:], env=dict(os.environ))


async def begin(conn):
    await conn.initialize(protocol_version=1)
    return (await conn.new_session(cwd=sys.argv[1], mcp_servers=[])).session_id


def shown(session, outcome, client):
    names = [c.get("name") or c["title"] for c in client.calls.values()]
    return {"session": session, "outcome": outcome, "text": client.text, "tools": names, "results": [c["status"] for c in client.calls.values()]}


async def scene(words, answer):
    client = Client(answer)
    async with connect(client) as (conn, _):
        session = await begin(conn)
        end = await conn.prompt(session_id=session, prompt=[acp.text_block(words)])
        return shown(session, end.stop_reason, client)


async def cancel():
    client = Client("allow_once")
    async with connect(client) as (conn, _):
        session = await begin(conn)
        turn = asyncio.create_task(conn.prompt(session_id=session, prompt=[acp.text_block("wait")]))
        await client.until(lambda: client.text)
        await conn.cancel(session_id=session)
        return shown(session, (await turn).stop_reason, client)


async def reconnect():
    gone = Client("allow_once")
    async with connect(gone) as (conn, process):
        session = await begin(conn)
        turn = asyncio.create_task(conn.prompt(session_id=session, prompt=[acp.text_block("long")]))
        await gone.until(lambda: len(gone.text) > 50)
        process.kill()
        turn.cancel()
    client = Client("allow_once")
    async with connect(client) as (conn, _):
        await conn.initialize(protocol_version=1)
        await conn.load_session(cwd=sys.argv[1], session_id=session, mcp_servers=[])
        end = await conn.prompt(session_id=session, prompt=[acp.text_block("say hello")])
        return shown(session, end.stop_reason, client)


async def main():
    out = {
        "text": await scene("say hello", "allow_once"),
        "tool": await scene("tools", "allow_once"),
        "allow": await scene("bash", "allow_once"),
        "reject": await scene("bash", "reject_once"),
        "cancel": await cancel(),
        "reconnect": await reconnect(),
    }
    print(json.dumps(out))


asyncio.run(main())
