"""Words to the service manager (systemd's notify protocol). Silent where there is none."""

import os
import socket


def notify(state: str) -> None:
    """Such as `READY=1`, `WATCHDOG=1`, `STOPPING=1`."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    # an address in the abstract name space is written with @ for its leading NUL
    where = "\0" + address[1:] if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.sendto(state.encode(), where)
