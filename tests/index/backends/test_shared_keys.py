"""Under which keys passages lie on a server: machines of any version find what another one put."""

from keeplore.index.backends.shared_engine import point_id, scope_key
from keeplore.index.backends.shared_points import UnsharedPassage

PASSAGE = UnsharedPassage(7, None, "mem_1", "project", "shop", ("Title", "Some text"))


def test_the_keys_of_a_place_and_of_a_passage_are_those_of_all_versions() -> None:
    assert scope_key("project", "shop") == "e6724274e56e5a51"
    assert point_id("memory", PASSAGE).hex() == "846e37f684539681fb42d34f128626df"


def test_a_passage_has_another_key_in_another_place_or_with_other_text() -> None:
    others = [
        point_id("other", PASSAGE),
        point_id("memory", PASSAGE._replace(memory="mem_2")),
        point_id("memory", PASSAGE._replace(scope="workspace")),
        point_id("memory", PASSAGE._replace(project="till")),
        point_id("memory", PASSAGE._replace(texts=("Title", "Other text"))),
    ]
    assert len({point_id("memory", PASSAGE), *others}) == 6
    # this machine's own number and vector of it do not count
    same = PASSAGE._replace(passage=8, vector=b"\0")
    assert point_id("memory", same) == point_id("memory", PASSAGE)
