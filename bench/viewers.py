"""Many viewers of one event's stream in one process: `python -m bench.viewers HOST PORT PATH COUNT`.

Prints `ready` once all have heard from the gateway. When its standard input closes it prints, as JSON, when (on the
system's monotonic clock) each viewer heard of each board, and ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time


async def watch(host: str, port: int, path: str, ready: asyncio.Semaphore, heard: dict[int, list[float]]) -> None:
    """One viewer."""
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n\r\n".encode())
    await writer.drain()
    status = await reader.readline()
    if b" 200 " not in status:
        raise AssertionError(status)
    while not (await reader.readline()).startswith(b"retry:"):
        pass
    ready.release()
    while line := await reader.readline():
        if line.startswith(b"data: {"):
            now = time.monotonic()
            change = json.loads(line[6:])
            if change.get("kind") == "result.recorded":
                heard.setdefault(change["data"]["board_id"], []).append(now)


async def main() -> None:
    """All viewers, a few dozen coming in at a time."""
    host, port, path, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    ready, heard = asyncio.Semaphore(0), {}
    viewers = []
    for number in range(count):
        viewers.append(asyncio.create_task(watch(host, port, path, ready, heard)))
        if number % 20 == 19:
            for _ in range(20):
                await ready.acquire()
    for _ in range(count % 20):
        await ready.acquire()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for viewer in viewers:
        viewer.cancel()
    print(json.dumps(heard), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
