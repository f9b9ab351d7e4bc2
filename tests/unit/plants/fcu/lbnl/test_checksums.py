from graphghha.plants.fcu.lbnl.checksums import MD5


def test_two_of_the_originals_are_byte_identical():
    assert MD5["FCU_Fouling_Cooling_Airside_Minor"] == MD5["FCU_Fouling_Heating_Airside_Minor"]
    assert len(set(MD5.values())) == len(MD5) - 1 == 48


def test_digests_are_those_of_the_published_list(data_dir):
    lines = (data_dir / "lbnl_fcu" / "cases.csv").read_text().splitlines()[1:]
    rows = [line.split(",") for line in lines]
    assert {row[1]: row[7] for row in rows} == MD5
