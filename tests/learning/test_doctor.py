"""What doctor says about learning: which model, what waits and why, what came of the last turn."""

from engine.doors.checks.row import Row, RowState
from engine.doors.doctor import examine
from engine.memory.candidates.model import Action, Origin, Proposal
from engine.runtime import open_engine
from spark_tui.demo.steps import Fail
from tests.learning.conftest import School, item
from tests.support import draft

PERSON = {"LANG": "C.UTF-8", "TERM": "xterm-256color"}


def rows_of(school: School) -> dict[str, Row]:
    def open_store() -> object:
        return open_engine(school.place.home, school.place.project, clock=school.place.clock, refresh=False)

    return {row.id: row for row in examine(school.place.home, open_store, PERSON)}  # type: ignore[arg-type]


def test_the_model_and_the_rule_that_chose_it(school: School) -> None:
    row = rows_of(school)["extraction-model"]
    assert row.state is RowState.OK
    assert row.evidence.startswith("mine scripted, memory.extractionProviderId says so")
    assert school.server.requests == []  # looking costs nothing
    config = school.place.home.config
    config.write_text("[memory]\nextractionProviderId = 'gone'\n", "utf-8")
    row = rows_of(school)["extraction-model"]
    assert (row.state, "no provider named gone" in row.evidence) == (RowState.FAIL, True)
    config.write_text("", "utf-8")
    row = rows_of(school)["extraction-model"]
    assert (row.state, "provider offers" in str(row.fix)) == (RowState.INFO, True)


def test_a_refused_key_is_seen_in_the_queue_with_what_mends_it(school: School) -> None:
    assert rows_of(school)["jobs"].state is RowState.OK
    school.server.script.default = Fail(401)
    school.job()
    row = rows_of(school)["jobs"]
    assert row.state is RowState.WARN
    assert "1 had no model" in row.evidence
    assert "401" in row.evidence
    assert "jobs retry" in str(row.fix)


def test_what_came_of_the_last_turn_or_why_nothing_did(school: School) -> None:
    assert "none yet" in rows_of(school)["last-extraction"].evidence
    school.job()
    assert "nothing worth keeping" in rows_of(school)["last-extraction"].evidence
    school.turn(item("tea", "Likes tea"), item("sure", "Perhaps likes milk", confidence=0.2), user="again")
    rows = rows_of(school)
    assert "1 added, 1 dropped by gate confidence" in rows["last-extraction"].evidence
    assert "1 confidence" in rows["gates"].evidence
    school.place.clock.advance(days=8)
    assert "nothing" in rows_of(school)["gates"].evidence


def test_what_waits_for_the_person_and_which_of_it_a_name_holds_up(school: School) -> None:
    layer = school.engine.layers.user()
    rule = Proposal(layer, Action.ELEVATE, Origin.CONSOLIDATION, "short", "Be short everywhere")
    school.engine.candidates.propose(rule)
    assert rows_of(school)["candidates"].evidence == "1 wait for you"
    school.engine.store.add(draft("short", "Likes short trousers"))
    assert "the name of 1 is taken" in rows_of(school)["candidates"].evidence


def test_which_layer_is_due_for_consolidation(school: School) -> None:
    school.configure(memory__consolidationThreshold=2)
    for name in ("one", "two"):
        school.engine.store.add(draft(name, f"Knows {name}"))
    assert rows_of(school)["consolidation"].evidence == "user: at the next turn"
    school.engine.due.check(school.engine.layers.person())
    assert "user: 20" in rows_of(school)["consolidation"].evidence
