"""A device that sends too much, in a process of its own. Usage: python -m faults.rogue PORT TOPIC PER_SECOND"""

import json
import sys
import time

from paho.mqtt.client import Client, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion

READINGS, IN_FLIGHT = 2_000, 500
POINTS = ("RM_TEMP", "FCU_DAT", "FCU_MAT", "FCU_RAT")


def main(port: int, topic: str, per_second: int) -> None:
    """Send until the process is killed, at most so many messages a second."""
    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTv5)
    client.max_inflight_messages_set(IN_FLIGHT)
    client.connect("127.0.0.1", port)
    client.loop_start()
    payload = json.dumps([dict.fromkeys(POINTS, 20.0)] * (READINGS // len(POINTS))).encode()
    began, sent, last = time.monotonic(), 0, None
    while True:
        last = client.publish(topic, payload, qos=1)
        sent += 1
        if sent % IN_FLIGHT == 0:
            last.wait_for_publish(60)
        if sent % per_second == 0:
            print(sent, flush=True)
        time.sleep(max(0.0, began + sent / per_second - time.monotonic()))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
