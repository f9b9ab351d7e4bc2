"""Signed models: what a forger can do, and that it is noticed."""

import json
import os
import shutil
import subprocess

import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.errors import CheckpointError, ConfigError
from graphghha.models import SIGNATURE, TrustedKeys, load_model, save_model, sign_model, write_manifest
from graphghha.settings import find_problems
from model_builders import small_model
from settings_builders import SITE


@pytest.fixture(scope="module", autouse=True)
def signing():
    """Signatures need the package cryptography, and the keys of these tests openssl."""
    missing = "openssl" if shutil.which("openssl") is None else None
    try:
        import cryptography  # noqa: F401
    except ImportError:
        missing = "the package cryptography"
    if missing and os.environ.get("CI"):
        pytest.fail(f"{missing} is missing: in CI no test may skip")
    if missing:
        pytest.skip(f"needs {missing}: pip install 'graphghha[sign]'")


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Two pairs of keys, as the documents say to make them."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ours", "theirs"):
        openssl("genpkey", "-algorithm", "ed25519", "-out", folder / f"{name}.pem")
        openssl("pkey", "-in", folder / f"{name}.pem", "-pubout", "-out", folder / f"{name}.pub")
    openssl("genpkey", "-algorithm", "RSA", "-out", folder / "rsa.pem")
    openssl("pkey", "-in", folder / "rsa.pem", "-pubout", "-out", folder / "rsa.pub")
    return folder


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    directory = tmp_path_factory.mktemp("saved") / "model"
    save_model(small_model(), directory)
    return directory


@pytest.fixture
def directory(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "model")


@pytest.fixture
def ours(keys):
    return TrustedKeys.read([keys / "ours.pub"], is_required=True)


def call(*arguments, code=0):
    result = CliRunner().invoke(main, ["model", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.output


def test_a_signed_model_is_verified_and_still_loads(directory, keys, ours):
    identity = sign_model(directory, keys / "ours.pem")
    assert ours.verify(directory) == identity and len(identity) == 16
    load_model(directory)
    assert TrustedKeys().verify(directory) is None, "without keys nobody looks at signatures"


def test_openssl_makes_the_same_signature(directory, keys, tmp_path):
    """The scheme is plain ed25519 over a line of context and the manifest; nothing of it is ours alone."""
    sign_model(directory, keys / "ours.pem")
    message = tmp_path / "message"
    message.write_bytes(b"graphghha model manifest\n" + (directory / "manifest.json").read_bytes())
    openssl("pkeyutl", "-sign", "-rawin", "-in", message, "-inkey", keys / "ours.pem", "-out", tmp_path / "raw")
    import base64

    stored = json.loads((directory / SIGNATURE).read_text())["signature"]
    assert base64.b64decode(stored) == (tmp_path / "raw").read_bytes()


def test_a_consistent_forgery_is_noticed(directory, keys, ours):
    """Threshold changed, manifest recomputed: hashes alone would not show it."""
    sign_model(directory, keys / "ours.pem")
    path = directory / "thresholds.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "rule": {**data["rule"], "raise_at": 0.9999}}))
    write_manifest(directory)
    load_model(directory)
    with pytest.raises(CheckpointError, match="signature does not fit its manifest"):
        ours.verify(directory)


def test_a_missing_signature_and_a_foreign_key_are_refused(directory, keys, ours):
    with pytest.raises(CheckpointError, match="has no signature, and require_signature is set"):
        ours.verify(directory)
    assert TrustedKeys.read([keys / "ours.pub"]).verify(directory) is None
    sign_model(directory, keys / "theirs.pem")
    with pytest.raises(CheckpointError, match="which is not trusted"):
        ours.verify(directory)
    stated = json.loads((directory / SIGNATURE).read_text())
    (directory / SIGNATURE).write_text(json.dumps({**stated, "key": ours.keys[0].id}))
    with pytest.raises(CheckpointError, match="signature does not fit its manifest"):
        ours.verify(directory)


@pytest.mark.parametrize("content", ["", "[]", "{}", "[" * 100_000, '{"format": "x"}', '{"format": 1, "signature": 2}'])
def test_a_signature_that_cannot_be_read_is_refused(directory, ours, content):
    (directory / SIGNATURE).write_text(content)
    with pytest.raises(CheckpointError):
        ours.verify(directory)


def test_keys_that_cannot_be_used_are_named(directory, keys, tmp_path):
    (tmp_path / "empty").write_text("")
    for path in (tmp_path / "empty", keys / "rsa.pub", keys / "ours.pem", tmp_path / "none"):
        with pytest.raises(ConfigError, match=path.name):
            TrustedKeys.read([path])
    for path in (tmp_path / "empty", keys / "rsa.pem", keys / "ours.pub"):
        with pytest.raises(ConfigError, match=path.name):
            sign_model(directory, path)
    with pytest.raises(ConfigError, match="needs trusted_keys"):
        TrustedKeys.read([], is_required=True)


def test_the_commands(directory, keys, tmp_path):
    assert "sound; no signature was asked for" in call("verify", directory)
    assert "has no signature" in call("verify", directory, "--key", keys / "ours.pub", code=5)
    signed = json.loads(call("sign", directory, "--key", keys / "ours.pem", "--json"))
    assert signed["key"] in call("verify", directory, "--key", keys / "theirs.pub", "--key", keys / "ours.pub")
    assert json.loads(call("verify", directory, "--key", keys / "ours.pub", "--json"))["signed_by"] == signed["key"]
    shown = json.loads(call("show", directory, "--json"))
    assert shown["rule"]["votes"] == 3 and signed["key"] in shown["signature"]
    assert "rule raise_at" in call("show", directory)
    openssl("pkey", "-in", keys / "ours.pem", "-aes256", "-passout", "pass:secret", "-out", tmp_path / "locked.pem")
    (tmp_path / "password").write_text("secret\n")
    assert "password is missing or wrong" in call("sign", directory, "--key", tmp_path / "locked.pem", code=2)
    call("sign", directory, "--key", tmp_path / "locked.pem", "--password-file", tmp_path / "password")


def test_settings_that_require_signatures(directory, keys, tmp_path):
    file = tmp_path / "graphghha.toml"
    monitor = f'[monitor]\nrequire_signature = true\ntrusted_keys = ["{keys / "ours.pub"}"]\n'
    site = f'{SITE}model = "{directory}"\n'
    file.write_text(monitor + site)
    assert any("has no signature" in problem for problem in find_problems(file))
    sign_model(directory, keys / "ours.pem")
    assert not [problem for problem in find_problems(file) if "signature" in problem]
    file.write_text("[monitor]\nrequire_signature = true\n" + site)
    assert any("require_signature needs trusted_keys" in problem for problem in find_problems(file))
