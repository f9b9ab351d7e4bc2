"""The parts of a site as its settings describe them."""

from faults.broker import free_port
from graphghha.checking import check_site
from graphghha.models import shipped_model
from graphghha.monitor import ZoneJudgement
from graphghha.settings import read_settings
from graphghha.wiring import open_detector, zone_judgement
from model_builders import LIMITS, small_zone_model


def test_a_password_file_in_a_folder_with_a_space_reaches_the_source(tmp_path):
    secret = tmp_path / "my creds" / "pw"
    secret.parent.mkdir()
    secret.write_text("open sesame\n")
    (tmp_path / "live.toml").write_text(
        f'[[site]]\nname = "north"\nsource = "mqtt://127.0.0.1:{free_port()}/bms"\nzones = 1\n'
        f'username = "monitor"\npassword_file = "{secret}"\n'
    )
    report = check_site(read_settings(tmp_path / "live.toml").site[0], seconds=0.1)
    assert report.readings == 0 and "127.0.0.1" in report.status.detail


def test_a_model_that_judges_zones_says_what_its_scores_stand_for():
    assert zone_judgement(small_zone_model()) == ZoneJudgement(
        set_share=LIMITS.set_share, coverage=LIMITS.coverage, days_per_attack=10.0
    )
    detector = open_detector(shipped_model("fcu"), 2)
    assert detector.zone_judgement is None and detector.group_rule.building is None
