"""What the pages about deployment show: curl, certificates, a proxy, systemd and a container."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SITE = """
[monitor]
state_dir = "state"
[[site]]
name = "demo"
source = "sim:fcu?zones=1&seed=7&speed=120&days=2&start=2018-07-10T06:00&live_from=2018-07-10T08:00"
warm_up_rows = 5
lateness_s = 0
learn_days = 0
[web]
port = 0
"""


def start(folder, more=""):
    config = folder / "site.toml"
    config.write_text(SITE + more)
    command = [sys.executable, "-m", "graphghha"]
    secret = json.loads(
        subprocess.check_output([*command, "token", "create", str(config), "siem", "--role", "admin", "--json"])
    )["secret"]
    process = subprocess.Popen([*command, "serve", str(config), "--json"], stdout=subprocess.PIPE, text=True)
    return process, json.loads(process.stdout.readline())["address"].partition("/?")[0].rstrip("/"), secret


def stop(process):
    process.terminate()
    process.wait(60)
    process.stdout.close()


@pytest.mark.slow
def test_the_lines_with_curl_on_the_api_page_work(tmp_path):
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8").partition("## With curl")[2]
    script = re.search(r"```sh\n(.*?)```", text, re.DOTALL).group(1)
    process, address, secret = start(tmp_path)
    try:
        wait_for_rows(address, secret)
        environment = {**os.environ, "ADDRESS": address, "TOKEN": secret}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True
        )
    finally:
        stop(process)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "alarms.csv").read_text().startswith("id,site,zone")
    assert '"outcome":"done"' in done.stdout and "event: hello" in done.stdout


def wait_for_rows(address, secret):
    request = urllib.request.Request(f"{address}/api/v1/sites", headers={"Authorization": f"Bearer {secret}"})
    for _ in range(600):
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                if (items := json.load(answer)["items"]) and items[0]["as_of"]:
                    return
        except OSError:
            pass
        time.sleep(0.2)
    raise AssertionError("no row was scored in time")


@pytest.mark.slow
def test_with_certificates_it_answers_by_https_with_a_secure_cookie(tmp_path):
    if shutil.which("openssl") is None:
        if os.environ.get("CI"):
            pytest.fail("openssl is missing: in CI no test may skip")
        pytest.skip("needs openssl to make a certificate (Debian: apt-get install openssl)")
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    keys = ["-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "cert"), "-days", "2", "-nodes"]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", *keys, *names], check=True, capture_output=True)
    process, address, secret = start(tmp_path, 'cert_file = "cert"\nkey_file = "key"\n')
    try:
        assert address.startswith("https://")
        command = ["curl", "-sS", "--retry", "30", "--retry-connrefused", "--cacert", str(tmp_path / "cert"), "-D", "-"]
        answer = subprocess.check_output(
            [*command, "-H", f"Authorization: Bearer {secret}", f"{address}/api/v1/session"]
        )
    finally:
        stop(process)
    assert b" 200" in answer.splitlines()[0] and b"strict-transport-security" in answer.lower()


@pytest.mark.slow
def test_behind_a_proxy_the_public_name_and_the_clients_address_count(tmp_path):
    more = 'behind_proxy = true\nhosts = ["monitor.example.org"]\n'
    process, address, secret = start(tmp_path, more)
    try:
        wait_for_rows(address, secret)
        head = ["-H", f"Authorization: Bearer {secret}", "-H", "X-Forwarded-For: 192.0.2.7"]
        command = ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", *head, f"{address}/api/v1/sites"]
        codes = [
            subprocess.check_output([*command, "-H", f"Host: {host}"], text=True)
            for host in ("monitor.example.org", "attacker.example.com")
        ]
        body = '{"verb": "suppress", "comment": "service", "targets": [{"id": "zone-01/FCU_DMPR", "version": 0}]}'
        more = ["-H", "Content-Type: application/json", "-d", body]
        subprocess.check_output(["curl", "-fsS", *head, *more, f"{address}/api/v1/commands"])
        audit = subprocess.check_output(["curl", "-fsS", *head, f"{address}/api/v1/audit"])
    finally:
        stop(process)
    assert codes[0] == "200" and codes[1] in ("400", "403", "421")
    assert json.loads(audit)["items"][0]["body"]["address"] == "192.0.2.7"


def test_the_container_copies_what_exists():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    copied = [line.split()[1:-1] for line in text.splitlines() if line.startswith("COPY") and "--from" not in line]
    assert copied
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    for name in (name for names in copied for name in names):
        assert (ROOT / name).exists() and f"!{name}" in ignored, name
    assert re.search(r"^USER (?!root)", text, re.MULTILINE), "it must not run as root"


def test_the_service_with_the_page_differs_only_where_it_has_to():
    plain, page = (
        (ROOT / f"docs/examples/{name}.service").read_text(encoding="utf-8").splitlines()
        for name in ("graphghha", "graphghha-serve")
    )
    changed = {line for line in set(plain) ^ set(page) if line and not line.startswith(("#", "Description="))}
    assert all(line.startswith(("ExecStart=", "NotifyAccess=")) for line in changed), changed
