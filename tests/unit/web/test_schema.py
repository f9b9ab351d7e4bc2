"""Every route with generated requests, as every role: none makes the server fail.

Three ways: schemathesis generates requests for each operation of the schema by itself, as each role; it follows the
schema's links from answers to further requests; and a seeded walk goes over all operations with all roles, using what
earlier answers named, so that commands meet what exists. The stream is left out; it has tests of its own.

GRAPHGHHA_FUZZ_SECONDS=600 pytest tests/unit/web/test_schema.py -k links -n 0 -s: the second way for so long, against a
real `graphghha serve` with a simulated building, with other requests each time.
"""

import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error

from graphghha.web.app import make_api
from graphghha.web.openapi import EXAMPLES, LINKS, OPEN
from graphghha.web.roles import is_enough
from web_builders import NEEDED, ROLES, Building

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
FEW = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with Building(tmp_path_factory.mktemp("fuzzed")) as building:
        schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", building.app)
        yield building, schema.exclude(path="/api/v1/stream")  # it never ends


@pytest.mark.parametrize("role", ROLES)
def test_no_request_makes_the_server_fail(api, role):
    building, schema = api
    headers = {"Authorization": f"Bearer {building.secrets[role]}"}
    count = 0
    for result in schema.get_all_operations():
        operation = result.ok()

        @FEW
        @given(case=operation.as_strategy())
        def check(case):
            nonlocal count
            response = case.call(headers=headers)
            case.validate_response(response, checks=[not_a_server_error])
            count += 1

        check()
    assert count > 100


def test_a_walk_with_what_earlier_answers_named_makes_nothing_fail(api):
    """Generated requests seldom name what exists: this walk uses ids, versions and zones that it has seen."""
    building, schema = api
    seen, steps, statuses, walked = random.Random(7), 0, set(), set()
    known = {"site": ["office"], "zone": ["zone-01", "zone-03", "-"], "incident": [], "version": [0, 1, 2], "id": ["x"]}
    known |= {"name": ["operator"], "node": ["zone-01/valve"], "token": ["x"], "injection": ["x"]}
    verbs = ("ack", "shelve", "unshelve", "suppress", "out-of-service", "return", "reset", "dispose", "comment")
    operations = [result.ok() for result in schema.get_all_operations()]
    while steps < 300:
        role, operation = seen.choice(ROLES), seen.choice(operations)
        names = re.findall(r"{(\w+)}", operation.path)
        if any(not known.get(name) for name in names):
            continue
        path = re.sub(r"{(\w+)}", lambda name: str(seen.choice(known[name.group(1)])), operation.path)
        body = None
        if operation.path.endswith("/commands"):
            target = {"id": seen.choice([*known["incident"], *known["node"]]), "version": seen.choice(known["version"])}
            body = {"verb": seen.choice(verbs), "targets": [target], "comment": "walk", "disposition": "fault"}
        elif operation.path.endswith("/stops"):
            body = {"minutes": seen.randint(1, 90), "reason": "walk"}
        elif operation.path.endswith("/found"):
            body = {"zone": seen.choice(known["zone"]), "disposition": "fault", "text": "walk"}
        elif operation.method.upper() == "POST":
            body = {}
        answer = building.call(operation.method.upper(), path, body, role=role)
        assert answer.status < 500, (operation.method, path, body, answer)
        statuses.add(answer.status)
        walked.add((operation.method, operation.path))
        if answer.status == 200 and operation.path.endswith("/incidents"):
            known["incident"] = [item["id"] for item in answer.json["items"]]
            known["version"] = sorted({*known["version"], *(item["version"] for item in answer.json["items"])})
        steps += 1
    assert {200, 403, 422} <= statuses
    assert walked == {(operation.method, operation.path) for operation in operations}, "a route was never walked"


SECONDS = float(os.environ.get("GRAPHGHHA_FUZZ_SECONDS", "0"))
LINKED = settings(
    max_examples=8,
    stateful_step_count=8,
    deadline=None,
    derandomize=not SECONDS,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
SITE = """
[monitor]
state_dir = "state"
[[site]]
name = "demo"
source = "sim:fcu?zones=2&seed=7&speed=120&days=9&start=2018-07-10T06:00&live_from=2018-07-10T08:00"
warm_up_rows = 5
lateness_s = 0
learn_days = 0
[web]
port = 0
requests_per_s = 100000.0
"""


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    """The schema and the secrets of all roles: of a building without a socket, or of a real server for a long time."""
    folder = tmp_path_factory.mktemp("linked")
    if not SECONDS:
        with Building(folder) as building:
            yield schemathesis.openapi.from_asgi("/api/v1/openapi.json", building.app), building.secrets
        return
    config, command = folder / "site.toml", [sys.executable, "-m", "graphghha"]
    config.write_text(SITE)
    secrets = {
        role: json.loads(
            subprocess.check_output([*command, "token", "create", str(config), role, "--role", role, "--json"])
        )["secret"]
        for role in ROLES
    }
    process = subprocess.Popen([*command, "serve", str(config), "--json"], stdout=subprocess.PIPE, text=True)
    try:
        address = json.loads(process.stdout.readline())["address"].partition("/?")[0]
        yield schemathesis.openapi.from_url(f"{address}/api/v1/openapi.json", wait_for_schema=60), secrets
        assert process.poll() is None, "the server has ended"
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


@pytest.mark.parametrize("role", [*ROLES, "nobody"])
def test_following_the_links_of_answers_makes_nothing_fail(target, role):
    schema, secrets = target
    seen = Counter()

    class Machine(schema.exclude(path="/api/v1/stream").as_state_machine()):
        def get_call_kwargs(self, case):
            return {"headers": {"Authorization": f"Bearer {secrets.get(role, 'guessed')}"}}

        def validate_response(self, response, case, **_):
            case.validate_response(response, checks=[not_a_server_error])
            path = case.operation.path.removeprefix("/api/v1")
            needed, status = NEEDED[case.method.upper(), path], response.status_code
            seen[case.operation.definition.raw["operationId"], status] += 1
            if role == "nobody" and needed is not None:
                assert status in (400, 401, 403, 413, 422), (case.method, path, status)
            elif needed is not None and not is_enough(role, needed):
                assert status >= 400, (case.method, path, status)

    until = time.monotonic() + SECONDS / (len(ROLES) + 1)
    Machine.run(settings=LINKED)
    while time.monotonic() < until:
        Machine.run(settings=LINKED)
    if SECONDS:
        print(role, sum(seen.values()), "requests,", dict(sorted(Counter(s for (_, s) in seen.elements()).items())))
    assert sum(seen.values()) > 20
    if role == "admin":
        assert {status for _, status in seen} & {200, 201}, seen


def test_the_document_has_an_example_of_everything(tmp_path):
    with Building(tmp_path) as building:
        api = make_api(building.config)
    document, examples = api.openapi(), json.loads(EXAMPLES.read_text(encoding="utf-8"))
    operations = {each["operationId"]: each for item in document["paths"].values() for each in item.values()}
    assert operations.keys() == examples.keys(), "run scripts/record_api_examples.py"
    assert len(operations) == len(NEEDED) and operations.keys() >= LINKS.keys() | set(OPEN)
    for name, operation in operations.items():
        assert operation["description"], name
        for parameter in operation.get("parameters", ()):
            assert "example" in parameter or "examples" in parameter["schema"], (name, parameter["name"])
        if "requestBody" in operation:
            assert operation["requestBody"]["content"]["application/json"]["example"], name
        for status, answer in operation["responses"].items():
            if status == "200" or status == "201":
                assert all("example" in content for content in answer.get("content", {}).values()), name
    assert operations["log_in"]["security"] == [] and document["security"]
    for name, links in LINKS.items():
        for link in links.values():
            known = {each["name"] for each in operations[link["operationId"]].get("parameters", ())}
            assert link["parameters"].keys() <= known, (name, link)


def test_the_examples_are_such_as_the_routes_take_and_give(building):
    from fastapi.routing import APIRoute
    from pydantic import TypeAdapter

    from graphghha.web.routes import access, incidents, live, sites

    examples = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    checked = 0
    for route in (each for part in (access, incidents, live, sites) for each in part.router.routes):
        assert isinstance(route, APIRoute)
        example = examples[route.name]
        if route.body_field is not None:
            TypeAdapter(route.body_field.field_info.annotation).validate_python(example["request"])
            checked += 1
        if route.response_model is not None and "answer" in example:
            TypeAdapter(route.response_model).validate_python(example["answer"])
            checked += 1
    assert checked > 25
