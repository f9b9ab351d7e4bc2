"""Who is limited when more arrives than can be read, and who never is."""

from collections import deque

from graphghha.sources.overload import ALLOWANCE_BYTES_S, PATIENCE_S, RELEASED_AFTER_S, Overload

LONG = 4_000_000
READ_BYTES_S = 3_000_000  # what the reader decodes in a second


def play(arrivals, seconds, step_s=0.1):
    """Let senders send `arrivals(second)` -> [(sender, messages, bytes of each)] in every step; return what happened.

    The reader takes messages in order. The result: dropped messages by sender, and the longest wait of each.
    """
    overload, queue = Overload(LONG), deque()
    dropped, waits = {}, {}
    for tick in range(round(seconds / step_s)):
        now = tick * step_s
        for sender, messages, size in arrivals(now):
            for _ in range(messages):
                if overload.admits(sender, size, now):
                    queue.append((sender, size, now))
                    overload.queued(sender, size)
                else:
                    dropped[sender] = dropped.get(sender, 0) + 1
        budget = READ_BYTES_S * step_s
        while queue and budget > 0:
            sender, size, queued_at = queue.popleft()
            overload.removed(sender, size)
            if overload.is_dropped(sender, queued_at):
                dropped[sender] = dropped.get(sender, 0) + 1
                continue
            budget -= size
            if now > 2 * PATIENCE_S:
                waits[sender] = max(waits.get(sender, 0.0), now - queued_at)
    return dropped, waits, overload


def live(now, zones=12):
    """Every zone sends one message a minute."""
    return [(f"zone-{zone}", 1, 1_000) for zone in range(zones) if abs(now % 60 - 5 * zone) < 0.05]


def test_a_flood_delays_and_loses_its_own_messages_only():
    dropped, waits, overload = play(lambda now: [*live(now), ("rogue", 20, 40_000)], 300)
    assert set(dropped) == {"rogue"} and overload.limited == ("rogue",)
    assert max(wait for sender, wait in waits.items() if sender != "rogue") < 1.0


def test_two_floods_are_limited_each():
    dropped, waits, _ = play(lambda now: [*live(now), ("rogue", 10, 40_000), ("other", 10, 40_000)], 300)
    assert set(dropped) == {"rogue", "other"}
    assert max(wait for sender, wait in waits.items() if sender.startswith("zone")) < 1.0


def test_what_gateways_have_stored_for_a_day_is_not_a_flood():
    """Each of them forwards 1,440 messages of 10 kB at once, one after the other."""

    def forward(now):
        return [(f"gateway-{at}", 1_440, 10_000) for at in range(12) if abs(now - 10 * at) < 0.05]

    assert play(forward, 200)[0] == {}


def test_a_large_and_a_small_device_with_the_same_backlog_are_not_a_flood():
    """The queue stays long for minutes, but both send the same number of messages."""

    def backlog(now):
        return [("campus", 7, 50_000), ("shed", 7, 500)] if now < 200 else []

    assert play(backlog, 300)[0] == {}


def test_a_single_sender_is_never_limited():
    assert play(lambda now: [("all", 100, 40_000)] if now < 60 else [], 90)[0] == {}


def test_a_sender_is_released_once_it_keeps_to_its_allowance():
    calm_after = 120

    def arrivals(now):
        rogue = ("rogue", 20, 40_000) if now < calm_after else ("rogue", 1, int(ALLOWANCE_BYTES_S * 0.05))
        return [*live(now), rogue]

    assert play(arrivals, calm_after)[2].limited == ("rogue",)
    assert play(arrivals, calm_after + 2 * RELEASED_AFTER_S)[2].limited == ()
