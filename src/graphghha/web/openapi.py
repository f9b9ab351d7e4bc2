"""The OpenAPI document: who may ask, examples of a real site, and links from one answer to the next request."""

import json
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

EXAMPLES = Path(__file__).parent / "contract" / "examples.json"  # recorded by scripts/record_api_examples.py
OPEN = ("log_in",)  # operations that need no login
PARAMETERS: dict[str, Any] = {
    "site": "demo",
    "zone": "zone-01",
    "node": "zone-01/FCU_DMPR",
    "point": "zone-01/RM_TEMP",
    "root": "FCU_DMPR",
    "incident": "demo-20180710T0931-1",
    "injection": "9f86d081884c",
    "token": "5b2e1f0a",
    "name": "m.ortiz",
    "version": 1,
    "from": "2018-07-10T09:00:00Z",
    "to": "2018-07-10T12:00:00Z",
    "width": 600,
    "band": True,
    "state": "unacknowledged",
    "priority": "high",
    "open": True,
    "judged": False,
    "disposition": "fault",
    "q": "damper",
    "limit": 50,
    "cursor": "2018-07-10T09:31:00Z~119",
    "after": 118,
    "before": 119,
    "kind": "incident.*",
    "format": "csv",
    "last-event-id": "118",
}


def _answer(path: str) -> str:
    return f"$response.body#/{path}"


def _link(operation: str, body: Any = None, /, **parameters: str) -> dict[str, Any]:
    found: dict[str, Any] = {"operationId": operation, "parameters": parameters}
    return found if body is None else {**found, "requestBody": body}


def _command(verb: str, key: str, version: str, **more: str) -> dict[str, Any]:
    return {"verb": verb, "targets": [{"id": _answer(key), "version": _answer(version)}], "comment": "seen", **more}


_OF_SITE = ("read_site", "read_state", "read_points", "read_kpis", "read_model", "read_scores", "read_cases")
_SAME_SITE = "$request.path.site"
# by operation: links of its answer, by their names
LINKS: dict[str, dict[str, dict[str, Any]]] = {
    "list_sites": {name: _link(name, site=_answer("items/0/name")) for name in (*_OF_SITE, "read_injections")},
    "read_site": {"read_zone": _link("read_zone", site=_answer("name"), zone=_answer("zones_info/0/zone"))},
    "read_zone": {
        "read_history": _link("read_history", site=_answer("site"), point=_answer("nodes/0/node")),
        "suppress": _link("command", _command("suppress", "nodes/0/node", "nodes/0/version")),
        "return": _link("command", _command("return", "nodes/0/node", "nodes/0/version")),
    },
    "read_cases": {
        "inject": _link("inject", {"case": _answer("items/0/name"), "zone": "zone-01"}, site=_answer("site"))
    },
    "inject": {"end_injection": _link("end_injection", site=_SAME_SITE, injection=_answer("id"))},
    "begin_stop": {"end_stop": _link("end_stop", site=_SAME_SITE, version=_answer("version"))},
    "list_incidents": {
        "read_incident": _link("read_incident", incident=_answer("items/0/id")),
        "acknowledge": _link("command", _command("ack", "items/0/id", "items/0/version")),
        "next_page": _link("list_incidents", cursor=_answer("next")),
    },
    "read_incident": {
        "comment": _link("command", _command("comment", "id", "version")),
        "dispose": _link("command", _command("dispose", "id", "version", disposition="fault")),
        "read_history": _link("read_history", site=_answer("site"), point=_answer("charts/0")),
    },
    "list_events": {"next_page": _link("list_events", before=_answer("next"))},
    "audit": {"next_page": _link("audit", before=_answer("next"))},
    "add_person": {
        "log_in": _link("log_in", {"name": _answer("name"), "password": "$request.body#/password"}),
        "remove_person": _link("remove_person", name=_answer("name")),
    },
    "make_token": {"remove_token": _link("remove_token", token=_answer("id"))},
}


def operation_id(route: APIRoute) -> str:
    """Return the name of an operation: that of its function."""
    return route.name


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the document of an application."""
    found = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    found["components"]["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "of a machine: `graphghha token create`"},
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": "graphghha",
            "description": "of a browser: `POST /session`",
        },
    }
    found["security"] = [{"token": []}, {"session": []}]
    examples = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    for methods in found["paths"].values():
        for operation in methods.values():
            _complete(operation, examples.get(operation["operationId"], {}))
    return found


def _complete(operation: dict[str, Any], example: dict[str, Any]) -> None:
    name = operation["operationId"]
    if name in OPEN:
        operation["security"] = []
    for parameter in operation.get("parameters", ()):
        if parameter["name"] in PARAMETERS:
            parameter["example"] = PARAMETERS[parameter["name"]]
    if "request" in example:
        operation["requestBody"]["content"]["application/json"]["example"] = example["request"]
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            for content in answer.get("content", {}).values():
                if "answer" in example:
                    content["example"] = example["answer"]
            if name in LINKS:
                answer["links"] = LINKS[name]
