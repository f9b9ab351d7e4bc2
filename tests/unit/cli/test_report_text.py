"""People see of a recording what was judged, each attack, and each alarm that named no attacked node."""

from graphghha.cli._report_text import MOST_LISTED, report_lines

ATTACK = {
    "recording": 0,
    "building": "seed 1",
    "zone": "zone-01",
    "case": "FCU_OABlockage",
    "start": "2018-07-05T10:00Z",
    "visible": True,
    "found": True,
    "rank": 1,
    "named": "zone-01/Air_path",
    "minutes_to_detect": 12.0,
}
ALARM = {"recording": 0, "building": "seed 1", "time": "2018-07-06T01:00Z", "named": "zone-02/RM_TEMP", "kind": "quiet"}


def lines(attacks=(), alarms=(), protocol="files", recordings=1):
    card = {"event_recall": 0.5, "event_recall_interval": [0.1, 0.9], "days": 13.0}
    return list(
        report_lines(
            {
                "protocol": protocol,
                "config": {"history_days": 3},
                "card": card,
                "rows": [{}],
                "families": {},
                "attacks": attacks,
                "alarms": alarms,
                "buildings": [{}] * recordings,
            }
        )
    )


def test_headline_figures_have_their_interval():
    (recall,) = [line for line in lines() if "event_recall" in line]
    assert recall.endswith("50%  event_recall (95 %: 10% to 90%)")


def test_days_that_only_fill_the_windows_are_named():
    assert any("not judged: the first 3 days of each file" in line for line in lines())
    assert not [line for line in lines(protocol="deploy") if "not judged" in line]


def test_a_report_without_a_judged_attack_says_so_and_shows_no_empty_card():
    card = {"events": 0, "observable_events": 0, "event_recall": None, "days": 2.0, "false_alarms_per_day": 0.0}
    report = {"protocol": "files", "config": {"history_days": 3}, "card": card, "rows": [{}], "families": {}}
    report |= {"attacks": [], "alarms": [], "buildings": [{}]}
    early = list(report_lines(report | {"attacks_not_judged": 2}))
    assert early[0].startswith("no report card: the 2 attacks lie in the first 3 days of a file, which are not judged")
    assert not [line for line in early if "undefined" in line or "event_recall" in line]
    assert any("2.0  days" in line for line in early) and "the windows, with 2 attacks in them; " in early[-1]
    assert next(report_lines(report | {"attacks_not_judged": 0})).startswith("no report card: the data has no attack")


def test_each_attack_says_how_it_ended_in_the_order_of_time():
    missed = ATTACK | {"start": "2018-07-05T09:00Z", "found": False}
    wrong = ATTACK | {"start": "2018-07-05T11:00Z", "rank": 2, "named": "zone-01/FCU_DMPR"}
    unseen = ATTACK | {"start": "2018-07-05T12:00Z", "visible": False, "found": False}
    told = [line.split(": ")[1] for line in lines([wrong, ATTACK, unseen, missed]) if "FCU_OABlockage" in line]
    assert told == [
        "missed",
        "found after 12 min, named zone-01/Air_path",
        "found after 12 min, but named zone-01/FCU_DMPR",
        "shows in no reading",
    ]


def test_false_alarms_say_where_they_were():
    assert "  2018-07-06T01:00Z  zone-02/RM_TEMP: in a zone that was not under attack at that time" in lines(
        alarms=[ALARM]
    )
    assert "  seed 1  2018-07-06T01:00Z  zone-02/RM_TEMP: in a zone that was not under attack at that time" in lines(
        alarms=[ALARM], recordings=2
    )


def test_long_lists_end_with_their_length():
    assert lines(alarms=[ALARM] * (MOST_LISTED + 7))[-1] == "  and 7 more, see --json"
