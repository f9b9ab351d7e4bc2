"""What is at the other end of the wire does not fill the memory, get what it should not, or go unnoticed."""

from faults.wire import try_wire


def test_odd_brokers_unproven_servers_and_clients_with_our_id(mosquitto, failures):
    assert failures(try_wire) == []
