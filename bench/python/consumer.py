"""The Python SDK's side of the benchmark. It does what consumer/*.go does, in the same order, and
prints what it measured as one JSON object.

    python consumer.py <firehose> stream
    python consumer.py <firehose> first <calls>
"""

import asyncio
import json
import sys
import time

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ResultMessage,
    StreamEvent,
    ToolUseBlock,
    query,
)

cli, what = sys.argv[1:3]


def ask():
    return query(prompt="go", options=ClaudeAgentOptions(cli_path=cli, include_partial_messages=True))


async def stream():
    """Counts messages, the length of every text delta's text (the deltas are ASCII, so these are
    bytes), and tools by the name in every whole tool use."""
    messages = text_bytes = end = 0
    cpu = 0.0
    tools = {}
    begin = time.process_time()
    async for m in ask():
        messages += 1
        if isinstance(m, StreamEvent):
            event = m.event
            if event["type"] == "content_block_delta" and event["delta"]["type"] == "text_delta":
                text_bytes += len(event["delta"]["text"])
        elif isinstance(m, AssistantMessage):
            for b in m.content:
                if isinstance(b, ToolUseBlock):
                    tools[b.name] = tools.get(b.name, 0) + 1
        elif isinstance(m, ResultMessage):
            end = time.monotonic_ns()
            cpu = time.process_time() - begin
    return {"messages": messages, "text_bytes": text_bytes, "tools": tools, "end_ns": end, "cpu_s": cpu}


async def spawn_time():
    """From the start of the program to its first byte."""
    begin = time.monotonic()
    child = await asyncio.create_subprocess_exec(cli, "--spawn", stdout=asyncio.subprocess.PIPE)
    await child.stdout.read(1)
    ms = (time.monotonic() - begin) * 1000
    if await child.wait() != 0:
        raise RuntimeError(f"{cli} exited with {child.returncode}")
    return ms


async def query_time():
    """From the call of query to its first message; the rest is read too."""
    begin = time.monotonic()
    ms = None
    async for _ in ask():
        if ms is None:
            ms = (time.monotonic() - begin) * 1000
    if ms is None:
        raise RuntimeError("no message came")
    return ms


async def first():
    out = {"query_ms": [], "spawn_ms": []}
    kinds = [("spawn_ms", spawn_time), ("query_ms", query_time)]
    for i in range(int(sys.argv[3]) + 1):
        for j in range(len(kinds)):
            name, timer = kinds[(i + j) % len(kinds)]
            ms = await timer()
            if i > 0:  # the first warms up
                out[name].append(ms)
    return out


print(json.dumps(asyncio.run({"stream": stream, "first": first}[what]())))
