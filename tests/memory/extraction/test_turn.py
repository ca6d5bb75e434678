"""When two turns are the same turn."""

from dataclasses import replace

from engine.memory.extraction.turn import Turn, turn_key

TURN = Turn("use pnpm", "Noted.", session="s1", turn="t1", said_at=1_700_000_000_000)


def test_a_turn_fired_twice_is_one_turn_whatever_its_text_looked_like_the_second_time() -> None:
    again = replace(TURN, assistant="Noted.\n", said_at=1_700_000_009_000, ran=("p", "m"))
    assert turn_key(again) == turn_key(TURN)


def test_another_session_turn_or_agent_is_another_turn() -> None:
    others = [replace(TURN, session="s2"), replace(TURN, turn="t2"), replace(TURN, agent="reviewer")]
    assert len({turn_key(each) for each in (TURN, *others)}) == 4


def test_without_a_turn_id_the_texts_say_it() -> None:
    nameless = replace(TURN, turn=None)
    assert turn_key(replace(nameless, user="use pnpm\n")) == turn_key(nameless)
    assert turn_key(replace(nameless, assistant="No.")) != turn_key(nameless)
    assert turn_key(nameless) != turn_key(TURN)


def test_a_turn_id_without_a_session_does_not_make_two_conversations_one() -> None:
    first, second = Turn("a", "b", turn="1"), Turn("c", "d", turn="1")
    assert turn_key(first) != turn_key(second)


def test_parts_of_a_key_do_not_run_into_one_another() -> None:
    assert turn_key(Turn("ab", "c", session="s")) != turn_key(Turn("a", "bc", session="s"))
    assert turn_key(Turn("\ud800", "x")) != turn_key(Turn("\ud801", "x"))


def test_a_turn_without_an_answer_is_blank() -> None:
    assert Turn("hello", " \n\t").is_blank
    assert not TURN.is_blank
