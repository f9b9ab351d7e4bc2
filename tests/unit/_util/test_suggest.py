from graphghha._util.suggest import did_you_mean, nearest


def test_the_nearest_name_is_found_whatever_the_case():
    assert nearest("rm_tmp", ["RM_TEMP", "FCU_RAT"]) == "RM_TEMP"
    assert did_you_mean("rm_tmp", ["RM_TEMP"]) == "; did you mean 'RM_TEMP'?"


def test_nothing_near_gives_no_hint():
    assert nearest("xyz", ["RM_TEMP"]) is None
    assert did_you_mean("xyz", []) == ""


def test_a_name_of_a_megabyte_is_answered_at_once():
    assert nearest("x" * 1_000_000, ["RM_TEMP"] * 1000) is None
