"""Certificates and secrets for network connections."""

import ssl

import pytest

from faults.broker import Certificates
from graphghha._util.tls import Tls, read_secret


def test_servers_are_always_verified(tmp_path):
    context = Tls(ca_file=Certificates(tmp_path).ca).context()
    assert context.verify_mode is ssl.CERT_REQUIRED and context.check_hostname
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize("settings", [{"ca_file": "absent.pem"}, {"cert_file": "absent.pem", "key_file": "absent.key"}])
def test_an_unusable_certificate_is_an_os_error(tmp_path, settings):
    with pytest.raises(OSError):
        Tls(**{name: tmp_path / file for name, file in settings.items()}).context()


def test_a_secret_ends_where_its_line_ends(tmp_path):
    (tmp_path / "secret").write_text(" open sesame \r\n")
    assert read_secret(tmp_path / "secret") == " open sesame "
