"""Every route with generated requests, as every role: none makes the server fail.

Two ways: schemathesis generates requests for each operation of the schema by itself, as each role, and a seeded walk
goes over all operations with all roles, using what earlier answers named, so that commands meet what exists. The
stream is left out of both; it has tests of its own.
"""

import random
import re

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error

from web_builders import ROLES, Building

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
