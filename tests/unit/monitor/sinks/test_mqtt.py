"""MQTT out, against a real Mosquitto."""

import json

import pytest

from faults.broker import Broker, Certificates
from graphghha._util.tls import Tls
from graphghha.monitor.sinks import FollowRule, MqttSink, MqttSinkConfig
from graphghha.monitor.sinks.mqtt import topic_level
from sink_builders import HOSTILE, Listener, incident
from waiting import until

QUICK = FollowRule(poll_s=0.01, first_retry_s=0.01, longest_retry_s=0.1, batch=50)


@pytest.fixture
def made(mosquitto, tmp_path):
    """Brokers of another make than the usual."""
    brokers = []

    def make(**settings):
        brokers.append(Broker(tmp_path, **settings))
        return brokers[-1]

    yield make
    for broker in brokers:
        broker.stop()


def sink_to(port, **more):
    return MqttSink("broker", MqttSinkConfig(host="127.0.0.1", port=port, timeout_s=3, **more))


def test_each_event_arrives_under_the_prefix(broker):
    with Listener(broker.port) as listener:
        sink = sink_to(broker.port, prefix="alarms/north-tower")
        sink.deliver([incident(n, root=name) for n, name in enumerate(HOSTILE.values(), 1)])
        until(lambda: len(listener.messages) == len(HOSTILE), "all messages")
        sink.close()
    assert {message.topic for message in listener.messages} == {"alarms/north-tower/north/event/incident/annunciated"}
    assert [json.loads(message.payload)["body"]["root"] for message in listener.messages] == list(HOSTILE.values())


def test_an_incident_is_retained_until_it_is_closed_and_acknowledged(broker):
    sink = sink_to(broker.port, retain_open=True)
    over = "2018-07-02T16:00:00Z"
    sink.deliver([incident(1), incident(2)])
    sink.deliver([incident(3, kind="incident.closed", id="inc-1", closed=over, state="normal")])
    sink.deliver([incident(4, kind="incident.updated", id="inc-1", closed=over, state="normal")])
    sink.deliver([incident(5, kind="incident.closed", id="inc-2", closed=over)])
    sink.close()
    with Listener(broker.port) as listener:
        until(lambda: listener.messages, "the retained message")
    assert [message.topic for message in listener.messages] == ["graphghha/north/open/inc-2"]


def test_a_refused_topic_is_an_error_and_not_a_silent_loss(made, tmp_path):
    (tmp_path / "acl").write_text("topic write allowed/#\n")
    broker = made(settings=(f"acl_file {tmp_path / 'acl'}",))
    with pytest.raises(
        ConnectionError, match=r"refuses topic 'graphghha/north/event/incident/annunciated'.*authorized"
    ):
        sink_to(broker.port).deliver([incident(1)])
    allowed = sink_to(broker.port, prefix="allowed")
    allowed.deliver([incident(1)])
    allowed.close()


def test_tls_and_a_password_from_a_file(made, tmp_path):
    certificates = Certificates(tmp_path)
    broker = made(tls=certificates, password=("graphghha", "open sesame"))
    (secret := tmp_path / "secret").write_text("open sesame\n")
    login = {"username": "graphghha", "password_file": secret, "tls": Tls(ca_file=certificates.ca)}
    known = sink_to(broker.port, **login)
    known.deliver([incident(1)])
    known.close()
    secret.write_text("wrong")
    with pytest.raises(ConnectionError, match="refuses the connection"):
        sink_to(broker.port, **login).deliver([incident(1)])


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_a_name_is_one_level(name):
    assert not set(topic_level(name)) & set("/+#\x00") and topic_level(name) and not topic_level(name).startswith("$")
