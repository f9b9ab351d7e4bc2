"""The health server: `/livez`, `/readyz` and `/metrics` on a loopback port."""

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import accumulate
from socket import SHUT_RDWR
from threading import Lock, Thread, Timer
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from graphghha._version import __version__
from graphghha.monitor.feed import BOUNDS_S
from graphghha.monitor.service.health import HealthSnapshot, SiteHealth

log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
TOTAL_S = 3.0  # for a request and its answer together, however slowly the other side sends or reads
RETRY_S = 0.1
MOST_CONNECTIONS = 16  # at a time; agents ask one question after the other
_UNWELL = b'{"status": "not ready", "ready": false, "live": false, "reasons": ["the condition cannot be determined"]}'


class _Metrics(Collector):
    """Builds the metrics from a snapshot when they are scraped, so that there is only one set of counters."""

    def __init__(self, snapshot: Callable[[], HealthSnapshot]) -> None:
        self._snapshot = snapshot

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        now = self._snapshot()
        yield InfoMetricFamily("graphghha_build", "The running version.", {"version": __version__})
        yield _gauge("loop_age_seconds", "Time since the monitor's loop last ran.", now.loop_age_s)
        yield _gauge("ready", "1 when the monitor can score and store.", now.is_ready)
        yield _gauge("journal_writable", "1 when the journal can be written.", now.is_journal_writable)
        yield _gauge("journal_bytes", "Size of the journal.", now.journal_bytes)
        yield _gauge("disk_free_bytes", "Free space on the journal's disk.", now.disk_free_bytes)
        yield from _site_metrics(now.sites)
        yield from _sink_metrics(now)


def _site_metrics(sites: tuple[SiteHealth, ...]) -> Iterator[Metric]:
    up = GaugeMetricFamily("graphghha_source_up", "1 while the source is connected.", labels=["site"])
    lost = GaugeMetricFamily("graphghha_source_lost", "1 while the whole site is silent.", labels=["site"])
    as_of = GaugeMetricFamily("graphghha_data_timestamp_seconds", "Plant time of the newest row.", labels=["site"])
    took = HistogramMetricFamily("graphghha_batch_seconds", "Time until a batch is in the journal.", labels=["site"])
    model = InfoMetricFamily("graphghha_model", "The model in use.", labels=["site"])
    scored = CounterMetricFamily("graphghha_rows_scored", "Rows scored.", labels=["site"])
    readings = CounterMetricFamily("graphghha_readings", "Readings by outcome.", labels=["site", "outcome"])
    rejected = CounterMetricFamily("graphghha_rejected", "Messages rejected, by reason.", labels=["site", "reason"])
    nodes = GaugeMetricFamily("graphghha_nodes", "Known and unknown nodes.", labels=["site", "state"])
    incidents = GaugeMetricFamily("graphghha_incidents_open", "Open incidents.", labels=["site", "priority"])
    for site in sites:
        up.add_metric([site.name], float(site.is_connected))
        lost.add_metric([site.name], float(site.is_lost))
        if site.data_time_s is not None:
            as_of.add_metric([site.name], site.data_time_s)
        up_to = zip((*map(str, BOUNDS_S), "+Inf"), accumulate(site.durations.counts), strict=True)
        took.add_metric([site.name], list(up_to), site.durations.total_s)
        model.add_metric([site.name], {"id": site.model})
        scored.add_metric([site.name], site.rows_scored)
        for family, counts in (
            (readings, site.readings),
            (rejected, site.rejected),
            (nodes, site.nodes),
            (incidents, site.incidents),
        ):
            for label, count in counts.items():
                family.add_metric([site.name, label], count)
    yield from (up, lost, as_of, took, model, scored, readings, rejected, nodes, incidents)


def _sink_metrics(now: HealthSnapshot) -> Iterator[Metric]:
    up = GaugeMetricFamily("graphghha_sink_up", "1 while deliveries succeed.", labels=["sink"])
    pending = GaugeMetricFamily("graphghha_sink_pending_events", "Events not delivered yet.", labels=["sink"])
    counters = {
        "delivered": "Events delivered.",
        "failures": "Failed attempts, which were repeated.",
        "refused": "Events that the sink cannot express.",
        "dropped": "Events removed by retention before delivery; must be 0.",
    }
    families = {
        name: CounterMetricFamily(f"graphghha_sink_{name}", meaning, labels=["sink"])
        for name, meaning in counters.items()
    }
    for sink in now.sinks:
        up.add_metric([sink.name], float(not sink.last_error))
        pending.add_metric([sink.name], max(0, now.last_event - sink.cursor))
        for name, family in families.items():
            family.add_metric([sink.name], getattr(sink, name))
    yield from (up, pending, *families.values())


def _gauge(name: str, meaning: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"graphghha_{name}", meaning, value=float(value))


class _Server(ThreadingHTTPServer):
    """Serves a few connections at a time, each for a short time in all.

    When too many are open the oldest is cut off: who asks a question at once is answered even while others keep
    connections open and send byte by byte.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128  # with a short queue, a question waits for seconds beside a flood of connections

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._open: dict[Any, None] = {}  # in the order of their beginning
        self._lock = Lock()
        super().__init__(address, handler)

    def get_request(self) -> Any:
        """Accept a connection; without a free descriptor, wait a moment instead of trying again at once."""
        try:
            return super().get_request()
        except OSError:
            time.sleep(RETRY_S)
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread."""
        with self._lock:
            oldest = next(iter(self._open)) if len(self._open) >= MOST_CONNECTIONS else None
            self._open.pop(oldest, None)
            self._open[request] = None
        if oldest is not None:
            _cut_off(oldest)
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no further thread can be started
            self._forget(request)
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer one request; the connection is cut off after the total time."""
        limit = Timer(TOTAL_S, _cut_off, (request,))
        limit.daemon = True
        try:
            limit.start()
            super().process_request_thread(request, client_address)
        finally:
            limit.cancel()
            self._forget(request)

    def _forget(self, request: Any) -> None:
        with self._lock:
            self._open.pop(request, None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Note an aborted connection; it concerns nobody but the other side."""
        log.debug("a connection to the health port was aborted", exc_info=True)


def _cut_off(request: Any) -> None:
    with suppress(OSError):
        request.shutdown(SHUT_RDWR)


class HealthServer:
    """Answers on the loopback address only, for agents on this machine."""

    def __init__(self, port: int, snapshot: Callable[[], HealthSnapshot]) -> None:
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Metrics(snapshot))

        def answer(path: str) -> tuple[int, str, bytes]:
            if path == "/metrics":
                return 200, "text/plain; version=0.0.4; charset=utf-8", generate_latest(registry)
            if path not in ("/livez", "/readyz"):
                return 404, "application/json", b'{"error": "not found; use /livez, /readyz or /metrics"}'
            now = snapshot()
            is_well = now.is_live if path == "/livez" else now.is_ready
            body = {"live": now.is_live} if path == "/livez" else now.to_dict()
            return 200 if is_well else 503, "application/json", json.dumps(body).encode()

        class Handler(BaseHTTPRequestHandler):
            timeout = TOTAL_S
            server_version = "graphghha"

            def do_GET(self) -> None:
                try:
                    status, kind, body = answer(self.path.partition("?")[0])
                except Exception:  # an agent must learn that something is wrong, whatever it is
                    log.exception("the condition of the monitor cannot be determined")
                    status, kind, body = 503, "application/json", _UNWELL
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                log.debug(format, *args)

        self._server = _Server((LOOPBACK, port), Handler)
        self.port = self._server.server_port
        self._thread = Thread(target=self._server.serve_forever, name="health", daemon=True)

    def start(self) -> None:
        """Start to answer, in a thread of its own."""
        self._thread.start()

    def close(self) -> None:
        """Stop answering and release the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(2)
