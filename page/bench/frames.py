"""Frame cost, heap and first paint of the page with 1,536 nodes at one update a second, in a real browser.

python page/bench/frames.py [--seconds 60] [--zones 48] [--screen overview]: prints one JSON object. The answers are
those of page/bench/server.mjs, so the figures are the page's alone. The heap is read after its garbage was collected;
`grown_bytes` compares two snapshots of it, taken after a warm-up and at the end, by what the bytes are: `data` is what
the page keeps (objects, arrays, texts), `code` what the engine compiles meanwhile, `dom` what the browser keeps.
`long_tasks` are tasks of the page's thread above 50 ms, each as [ms, ms of the processor's time, what took longest]:
the two differ where other programs had the processor. Collections that this script asks for are left out.
`longest_task_cpu_ms` is the most that any task of the page needed of the processor.
"""

import argparse
import gzip
import json
import shutil
import subprocess
from bisect import bisect_left
from collections import Counter
from pathlib import Path

from playwright.sync_api import CDPSession, sync_playwright

HERE = Path(__file__).parent
STATIC = HERE.parents[1] / "src/graphghha/web/static"
WARM_UP_MS = 30_000
LONG_US = 50_000
TRACED = ["toplevel", "devtools.timeline", "v8"]
OWN_COLLECTION = "V8.GCLowMemoryNotification"
# Frames are noted in an array of fixed size, outside the heap that is measured.
# The time from the start of a frame's callbacks until the browser has laid out and painted it.
WATCH = """
window.frames_ms = new Float64Array(1 << 20); window.frames = 0;
const channel = new MessageChannel(); let begun = 0;
channel.port1.onmessage = () => { window.frames_ms[window.frames++] = performance.now() - begun; };
const frame = () => { begun = performance.now(); channel.port2.postMessage(0); requestAnimationFrame(frame); };
requestAnimationFrame(frame);
"""


def share(values: list[float], at: float) -> float:
    """Return a quantile."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(at * len(ordered)))]


def collect(session: CDPSession) -> float:
    """Collect garbage and return the size of the heap in MB."""
    for _ in range(3):  # what a first collection frees may hold more
        session.send("HeapProfiler.collectGarbage")
    return float(session.send("Runtime.getHeapUsage")["usedSize"]) / 1e6


def snapshot(session: CDPSession) -> Counter[str]:
    """Return the bytes of the heap by what they are."""
    chunks: list[str] = []

    def take(message: dict[str, str]) -> None:
        chunks.append(message["chunk"])

    session.on("HeapProfiler.addHeapSnapshotChunk", take)
    session.send("HeapProfiler.takeHeapSnapshot", {"reportProgress": False})
    session.remove_listener("HeapProfiler.addHeapSnapshotChunk", take)
    content = json.loads("".join(chunks))
    meta = content["snapshot"]["meta"]
    fields, kinds, nodes = meta["node_fields"], meta["node_types"][0], content["nodes"]
    sizes: Counter[str] = Counter()
    for at in range(0, len(nodes), len(fields)):
        kind = kinds[nodes[at + fields.index("type")]]
        sizes[{"native": "dom", "code": "code"}.get(kind, "data")] += nodes[at + fields.index("self_size")]
    return sizes


def tasks(trace: bytes) -> tuple[list[tuple[int, int, str]], float]:
    """Return the long tasks of the page's thread, and the most that a task needed of the processor in ms."""
    events = [event for event in json.loads(trace)["traceEvents"] if event.get("ph") in ("X", "M")]
    threads = [(event["pid"], event["tid"]) for event in events if event["args"].get("name") == "CrRendererMain"]
    long, most = [], 0.0
    for thread in threads:
        mine = sorted(
            (event for event in events if event["ph"] == "X" and (event["pid"], event["tid"]) == thread),
            key=lambda event: (event["ts"], -event["dur"]),
        )
        begins = [event["ts"] for event in mine]
        for task in mine:
            if not task["name"].endswith("RunTask"):
                continue
            inside = mine[bisect_left(begins, task["ts"]) : bisect_left(begins, task["ts"] + max(task["dur"], 1))]
            parts = {event["name"]: event["dur"] for event in inside if not event["name"].endswith("RunTask")}
            if OWN_COLLECTION in parts:
                continue
            most = max(most, task.get("tdur", 0) / 1000)
            if task["dur"] > LONG_US:
                worst = max(parts, key=parts.__getitem__, default="")
                long.append((round(task["dur"] / 1000), round(task.get("tdur", 0) / 1000), worst))
    return long, most


def measure(seconds: int, zones: int, screen: str) -> dict[str, object]:
    """Open the page and watch it for some seconds."""
    command = ["node", str(HERE / "server.mjs"), "--port", "8599", "--zones", str(zones), "--every", "1000"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert server.stdout is not None
    server.stdout.readline()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"http://127.0.0.1:8599/#/demo/{screen}")
            page.wait_for_timeout(3000)
            paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
            session = page.context.new_cdp_session(page)
            page.evaluate(WATCH)
            page.wait_for_timeout(WARM_UP_MS)
            before = snapshot(session)
            browser.start_tracing(page=page, categories=TRACED)
            collect(session)
            heap = [collect(session)]
            for _ in range(max(1, seconds // 20)):
                page.wait_for_timeout(20_000)
                heap.append(collect(session))
            long, most = tasks(browser.stop_tracing())
            after = snapshot(session)
            frames = page.evaluate("Array.from(window.frames_ms.subarray(0, window.frames))")
            browser.close()
    finally:
        server.kill()
        server.wait()
    size = sum(
        len(gzip.compress(file.read_bytes(), 9))
        for file in STATIC.iterdir()
        if file.suffix in (".js", ".css", ".html", ".svg")
    )
    return {
        "nodes": 32 * zones, "screen": screen, "seconds": seconds, "first_paint_ms": paint, "frames": len(frames),
        "frame_p50_ms": share(frames, 0.5), "frame_p95_ms": share(frames, 0.95), "frame_p99_ms": share(frames, 0.99),
        "long_tasks": long, "longest_task_cpu_ms": round(most, 1), "gzip_bytes": size,
        "heap_mb": [round(value, 2) for value in heap],
        "grown_bytes": {kind: after[kind] - before[kind] for kind in ("data", "code", "dom")},
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--zones", type=int, default=48)
    parser.add_argument("--screen", default="overview")
    given = parser.parse_args()
    print(json.dumps(measure(given.seconds, given.zones, given.screen)))
