"""Every route with generated requests, as every role: none makes the server fail."""

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
