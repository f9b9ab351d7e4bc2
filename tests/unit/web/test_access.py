"""Who gets in: every route for every role, logins, cookies, origins, hosts, one-time addresses."""

import gzip
import re

import pytest

from graphghha.web.app import make_api
from graphghha.web.limits import LoginLimit, Throttle, TokenBucket
from graphghha.web.roles import ROLES, is_enough
from web_builders import HOST, NEEDED, Building

API = "/api/v1"
PASSWORD = "correct horse battery"
ORIGIN = {"origin": f"http://{HOST}"}
BODIES = {"/commands": {"verb": "ack", "targets": [{"id": "nothing", "version": 0}]}}


def routes(building):
    schema = make_api(building.config).openapi()
    return {(method.upper(), path.removeprefix(API)) for path, item in schema["paths"].items() for method in item}


def address(path):
    known = {
        "site": "office",
        "zone": "zone-01",
        "version": "1",
        "name": "x",
        "token": "x",
        "incident": "x",
        "injection": "x",
    }
    return API + re.sub(r"{(\w+)}", lambda found: known[found[1]], path)


def test_every_route_is_in_the_table(building):
    assert routes(building) == set(NEEDED)


@pytest.mark.parametrize(("method", "path"), [key for key, role in NEEDED.items() if role])
def test_a_route_is_closed_without_a_login_and_below_its_role(building, method, path):
    body = BODIES.get(path, {} if method == "POST" else None)
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic eDp5"}):
        assert building.call(method, address(path), body, headers=headers).status == 401
    for role in ROLES:
        if not is_enough(role, NEEDED[method, path]):
            answer = building.call(method, address(path), body, role=role)
            assert answer.status == 403 and answer.json["needs"] == NEEDED[method, path]
        elif path != "/stream":
            assert building.call(method, address(path), body, role=role).status not in (401, 403)


@pytest.mark.parametrize("path", [path for method, path in NEEDED if "{site}" in path and method == "GET"])
def test_a_site_that_may_not_be_seen_does_not_exist(building, path):
    assert building.call("GET", address(path), role="elsewhere").status == 404
    assert building.get("/incidents", role="elsewhere")["total"] == 0
    assert building.get("/sites", role="elsewhere")["items"] == []


def test_a_browser_logs_in_and_out(own_building):
    from graphghha.web.access_store import AccessStore

    access = AccessStore(own_building.config.access)
    access.add_person("ortiz", PASSWORD, "operator")
    access.close()
    login = {"name": "ortiz", "password": PASSWORD}
    answer = own_building.call("POST", f"{API}/session", login)
    cookie = answer.headers["set-cookie"]
    assert answer.status == 200 and "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert PASSWORD not in own_building.config.access.read_bytes().decode("latin-1")
    holder = {"cookie": cookie.partition(";")[0]}
    assert own_building.call("GET", f"{API}/session", headers=holder).json["person"] == "ortiz"
    assert own_building.call("DELETE", f"{API}/session", headers=holder).status == 403, "no origin is named"
    foreign = holder | {"origin": "http://evil.example"}
    assert own_building.call("DELETE", f"{API}/session", headers=foreign).status == 403
    other = holder | {"sec-fetch-site": "cross-site"}
    assert own_building.call("POST", f"{API}/commands", {}, headers=other).status == 403
    assert own_building.call("DELETE", f"{API}/session", headers=holder | ORIGIN).status == 204
    assert own_building.call("GET", f"{API}/session", headers=holder).status == 401
    statuses = [own_building.call("POST", f"{API}/session", {**login, "password": "wrong"}).status for _ in range(7)]
    assert statuses[:5] == [401] * 5 and statuses[-1] == 429
    kinds = [event["kind"] for event in own_building.get("/audit", role="admin")["items"]]
    assert {"access.login", "access.logout", "access.refused"} <= set(kinds)


def test_the_printed_address_works_once(own_building):
    from graphghha.web.access_store import AccessStore

    access = AccessStore(own_building.config.access)
    token = access.make_once()
    access.close()
    answer = own_building.call("GET", f"/?token={token}")
    assert answer.status == 303 and answer.headers["location"] == "/"
    holder = {"cookie": answer.headers["set-cookie"].partition(";")[0]}
    assert own_building.call("GET", f"{API}/session", headers=holder).json["kind"] == "local"
    assert own_building.call("GET", f"/?token={token}").status == 401


def test_a_host_of_another_name_is_refused(building):
    for host in ("evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:8420"):
        assert building.call("GET", f"{API}/sites", role="admin", headers={"host": host}).status == 403
    for host in ("127.0.0.1:8420", "localhost", "[::1]:8420"):
        assert building.call("GET", f"{API}/sites", role="admin", headers={"host": host}).status == 200


def test_answers_carry_a_strict_policy_and_large_bodies_are_refused(building):
    answer = building.call("GET", f"{API}/sites", role="viewer")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store" and answer.headers["x-content-type-options"] == "nosniff"
    assert building.call("POST", f"{API}/commands", b"x" * 70_000, role="admin").status == 413


def test_the_page_is_served_and_nothing_beside_it(tmp_path):
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<p>page")
    (static / "assets" / "a-12ab.js").write_text("1")
    (tmp_path / "secret.txt").write_text("secret")
    with Building(tmp_path) as made:
        assert made.call("GET", "/").body == b"<p>page"
        assert made.call("GET", "/incidents/x").body == b"<p>page", "an address within the page"
        assert "immutable" in made.call("GET", "/assets/a-12ab.js").headers["cache-control"]
        for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/assets/../../secret.txt", "/missing.js"):
            assert b"secret" not in made.call("GET", path).body
        packed = made.call("GET", "/", headers={"accept-encoding": "br, gzip"})
        assert packed.headers["content-encoding"] == "gzip" and gzip.decompress(packed.body) == b"<p>page"
        again = {"accept-encoding": "gzip", "if-none-match": packed.headers["etag"]}
        assert made.call("GET", "/", headers=again).status == 304
        (static / "index.html").write_text("<p>another page")
        assert gzip.decompress(made.call("GET", "/", headers=again).body) == b"<p>another page"
        plain = made.call("GET", "/", headers={"accept-encoding": "gzip;q=0"})
        assert plain.body == b"<p>another page" and "content-encoding" not in plain.headers


def test_a_flood_is_slowed_and_forgotten():
    bucket = TokenBucket(rate=2.0, burst=3.0)
    assert [bucket.take("a", 0.0) for _ in range(3)] == [0.0] * 3
    assert bucket.take("a", 0.0) == pytest.approx(0.5) and bucket.take("b", 0.0) == 0.0
    assert bucket.take("a", 0.6) == 0.0
    throttle = Throttle(longest_s=3.0)
    assert [throttle.begin("x", 0.0) for _ in range(6)] == [0, 0, 0, 0, 0, 1.0], "attempts at once all count"
    assert throttle.begin("x", 1.5) == 0 and throttle.begin("x", 1.5) == 2.0
    assert throttle.begin("x", 4.0) == 0 and throttle.begin("x", 4.0) == 3.0, "not longer than that"
    assert throttle.begin("x", 4.0 + Throttle.FORGET_S + 1) == 0
    for _ in range(2):
        throttle.take_back("x")
    assert throttle.begin("x", 4.0 + Throttle.FORGET_S + 1) == 0


def test_nobody_keeps_an_operator_out_by_guessing_the_name():
    limit = LoginLimit()
    assert limit.begin("ortiz", "control-room", 0.0) == 0
    limit.succeed("ortiz", "control-room")
    guesses = [limit.begin("ortiz", f"10.0.0.{each}", 1.0) for each in range(50)]
    assert guesses[:5] == [0] * 5 and 0 < max(guesses) <= 30
    assert limit.begin("ortiz", "control-room", 1.0) == 0, "known here"
    for name in ("roy", "amin", "lee", "kim", "sato", "diaz"):
        waits = limit.begin(name, "attacker", 2.0)
    assert waits > 0, "one address that tries many names"
