"""What is at the other end of the wire does not fill the memory, get what it should not, or go unnoticed."""

import pytest

from faults.wire import try_wire


# paho leaves the socket of a refused TLS handshake to the garbage collector, which closes it
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_odd_brokers_unproven_servers_and_clients_with_our_id(mosquitto, failures):
    assert failures(try_wire) == []
