"""One tokeniser for writing and asking, proved on real FTS5 tables: everything is findable, nothing is an operator."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.storage.fulltext import (
    MAX_TERMS,
    coverage,
    create_table_sql,
    fold,
    index_text,
    match_query,
    normalised,
    secure_delete_sql,
    spans,
)
from engine.storage.stemmer import stem
from engine.storage.tokeniser import atoms, fold_with_origins

ANY_TEXT = st.text(st.characters(exclude_categories=()))
SCRIPTS = st.text(
    st.one_of(
        st.sampled_from("ab cC#+.-/_@:'\"*()^~&|,!?　 \n\0"),
        st.sampled_from("组件写法的了吗，。カナがﾞ한국각ก็ éßİſﬁⅧ①½ａＢ＋"),
        st.sampled_from("😀👩\u200d🇨🇳\ufe0f🏽①ㄱᄀ\u1161\u11a8\u0301\u0308𠮷葛\U000e0100"),
        st.characters(),
    ),
    max_size=60,
)

SUFFIX = st.sampled_from(
    ("", "s", "es", "ies", "sses", "ed", "ing", "eed", "y", "e", "ll", "er", "ful", "ness", "ement", "ion", "ism",
     "able", "ational", "tional", "ization", "iveness", "fulness", "biliti", "icate", "alize", "ical", "ence", "ate")
)  # fmt: skip


class Shelf:
    """A table of one column, filled and asked only through the functions under test."""

    def __init__(self, path: str = ":memory:") -> None:
        self.connection = apsw.Connection(path)
        self._run(create_table_sql("shelf", ["body"]))
        self._run(secure_delete_sql("shelf"))

    def _run(self, sql: str, values: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        return list(self.connection.execute(sql, values))

    def put(self, *texts: str) -> None:
        for number, text in enumerate(texts, start=1):
            self._run("INSERT INTO shelf(rowid, body) VALUES(?, ?)", (number, index_text(text)))

    def clear(self) -> None:
        self._run("DELETE FROM shelf")

    def find(self, question: str) -> set[object]:
        expression = match_query(question)
        if expression is None:
            return set()
        return {row[0] for row in self._run("SELECT rowid FROM shelf WHERE shelf MATCH ?", (expression,))}


@pytest.fixture(scope="module")
def shelf() -> Iterator[Shelf]:
    shelf = Shelf()
    yield shelf
    shelf.connection.close()


def found(shelf: Shelf, text: str, question: str) -> bool:
    shelf.clear()
    shelf.put(text)
    return shelf.find(question) == {1}


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("we write C++ here", "c++"),
        ("we write C++17 here", "C++"),
        ("notepad++ is installed", "notepad"),
        ("mostly C#, some F#", "c#"),
        ("mostly C#, some F#", "f#"),
        ("runs on .NET", ".net"),
        ("the .env file", ".ENV"),
        ("asp.net pages", "net"),
        ("served by Node.js", "node.js"),
        ("served by Node.js", "node js"),
        ("served by node js", "Node.js"),
        ("served by Node.js", "JS"),
        ("import from @arco-design/web-react", "@arco-design/web-react"),
        ("import from @arco-design/web-react", "arco design"),
        ("import from @arco-design/web-react", "web-react"),
        ("import from @arco-design/web-react", "arco-design/web-react"),
        ("ask user@host.example", "user@host.example"),
        ("ask user@host.example", "host.example"),
        ("see ~/src/components/Button.tsx", "/src/components/Button.tsx"),
        ("see ~/src/components/Button.tsx", "components/button.tsx"),
        ("see ~/src/components/Button.tsx", "Button"),
        ("use max_inject_tokens", "inject tokens"),
        ("released as v1.2.3 today", "v1.2.3"),
        ("released as v1.2.3 today", "v1.2"),
        ("https://example.com/a?b=1", "example.com"),
        ("std::vector<int>", "vector"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ！", "full"),
        ("full width", "ｗｉｄｔｈ"),
        ("繁體中文的記憶", "繁體"),
        ("项目用webpack构建", "webpack"),
        ("已从 webpack 迁到 vite", "项目用 webpack 构建"),
        ("偏好函数式组件写法", "组件"),
        ("偏好函数式组件写法", "件"),
        ("𠮷野家 and 葛\U000e0100城", "𠮷野"),
        ("𠮷野家 and 葛\U000e0100城", "葛城"),
        ("the 🎉 build", "🎉"),
        ("family 👨\u200d👩\u200d👧 day", "👩"),
        ("flag 🇨🇳", "🇨🇳"),
        ("press 1\ufe0f\u20e3", "1"),
        ("한국어 기억", "한국"),
        ("한국어 기억", "\u1112\u1161\u11ab국어"),
        ("かなのメモリ", "メモリ"),
        ("半角ﾒﾓﾘとｶﾞﾗｽ", "ガラス"),
        ("chapter Ⅷ", "viii"),
        ("the ﬁne print", "fine"),
        ("a café in Zürich", "cafe zurich"),
        ("a cafe in Zurich", "CAFÉ"),
        ("Straße", "STRASSE"),
        ("İstanbul", "istanbul"),
        ("co\u00adoperate", "cooperate"),
        ("she was painting studies", "paints study"),
        ("Caroline’s pottery", "caroline"),
        ("written in Java", "Java/C#"),
        ("some C# too", "Java/C#"),
        ("node.js/c++ bindings", "c++"),
        ("the UI uses Arco Design", "@arco-design/web-react"),
        ("a theme that is dark", "dark-mode"),
        ("Button.tsx moved", "src/Button.tsx"),
        ("to be or not to be", "to be"),
        ("ภาษาไทย", "ภาษา"),
        ("का हिन्दी पाठ", "हिन्दी"),
    ],
)
def test_what_people_write_is_found_however_they_ask(shelf: Shelf, text: str, question: str) -> None:
    assert found(shelf, text, question)
    assert coverage(question, text) > 0
    assert spans(question, text)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("we write C++ here", "c"),
        ("we write C here", "c++"),
        ("we write C here", "c#"),
        ("node runs the js", "node.js"),
        ("flag 🇳🇨", "🇨🇳"),
        ("组织文件", "组件"),
        ("alphabet", "alpha*"),
        ("beta", "name:alpha"),
        ("served by node", "node.js"),
        ("version 2 of 3", "v1.2.3"),
        ("й", "и"),
    ],
)
def test_what_only_looks_alike_is_not_found(shelf: Shelf, text: str, question: str) -> None:
    assert not found(shelf, text, question)
    assert not spans(question, text)
    assert coverage(question, text) == 0


@pytest.mark.parametrize(
    ("question", "hits"),
    [
        ("alpha AND omega", {1, 2}),
        ("alpha NOT beta", {1, 2}),
        ("NEAR(alpha omega, 2)", {1, 2}),
        ('"alpha', {1, 2}),
        ("alpha*", {1, 2}),
        ("^beta", {2}),
        ("-beta", {2}),
        ("body:beta", {2}),
        ("{body}: beta", {2}),
        ("beta + gamma", {2, 3}),
        ("beta') OR 1=1 --", {2}),
        ("rank MATCH 'bm25(10)'", set()),
    ],
)
def test_operators_are_words(shelf: Shelf, question: str, hits: set[object]) -> None:
    shelf.clear()
    shelf.put("alpha", "alpha beta", "gamma", "betamax", "alphabet")
    assert shelf.find(question) == hits


@pytest.mark.parametrize(
    "nothing", ["", " ", "?!", "，。！", '"*^:()', "\0", "\ud800", "\u200d\ufe0f", "---", "...", "+"]
)
def test_punctuation_alone_asks_for_nothing(nothing: str) -> None:
    assert match_query(nothing) is None
    assert coverage(nothing, nothing) == 0
    assert spans(nothing, nothing) == []


def test_chinese_is_asked_in_overlapping_pairs() -> None:
    assert match_query("组件写法") == '"组 件" OR "件 写" OR "写 法"'
    assert match_query("件") == '"件"'
    assert match_query("用 vite 构建") == '"用" OR "vite" OR "构 建"'


def test_words_that_say_nothing_are_asked_only_when_nothing_else_is() -> None:
    assert match_query("What is the build tool?") == '"build" OR "tool"'
    assert match_query("I don't use Caroline's") == '"use" OR "caroline"'
    assert match_query("who are you") == '"who" OR "are" OR "you"'
    assert match_query("目的是什么") == '"目 的"'
    assert match_query("什么") == '"什 么"'


def test_a_compound_is_asked_whole_or_by_its_parts_in_a_row_and_a_one_letter_language_only_whole() -> None:
    assert match_query("node.js") == '"node．js" OR "node js"'
    assert match_query("C++ c#") == '"c＋＋" OR "c＃"'


def test_what_a_hyphen_or_slash_joins_is_asked_by_itself_too() -> None:
    assert match_query("dark-mode") == '"dark－mode" OR "dark mode" OR "dark" OR "mode"'
    assert match_query("the/node.js") == '"the／node．js" OR "the node js" OR "node js"'
    assert match_query("2026-10-31") == '"2026－10－31" OR "2026 10 31"'


def test_a_question_of_any_length_has_at_most_64_different_terms(shelf: Shelf) -> None:
    question = " ".join(f"word{number} word{number} a-{number}-{'x-' * number}z" for number in range(400))[:10_000]
    expression = match_query(question)
    assert expression is not None
    terms = expression.split(" OR ")
    assert len(terms) == len(set(terms)) == MAX_TERMS
    assert terms[0] == '"word0"'
    assert found(shelf, question, question)
    assert found(shelf, "长" * 10_000, "长" * 10_000)


@given(ANY_TEXT | SCRIPTS)
def test_no_text_makes_fts5_raise_or_leaves_its_quotes(shelf: Shelf, text: str) -> None:
    expression = match_query(text)
    assert expression is None or re.fullmatch(r'"[^"]+"(?: OR "[^"]+")*', expression)
    shelf.clear()
    shelf.put(text)
    assert shelf.find(text) == (set() if expression is None else {1})


@given(SCRIPTS, SCRIPTS, SCRIPTS)
@example("x", "\u0301a", "y")
@example("", "of the", "")
def test_a_text_that_holds_the_question_as_whole_words_is_found(
    shelf: Shelf, before: str, question: str, after: str
) -> None:
    text = f"{before} {question} {after}"
    if match_query(question) is not None:
        assert found(shelf, text, question)
        assert coverage(question, text) == 1
        assert spans(question, text)


@given(ANY_TEXT | SCRIPTS)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert normalised(normalised(text)) == normalised(text)
    assert normalised(fold(text)) == normalised(text)


@given(SCRIPTS)
def test_a_text_asks_and_is_stored_alike_before_and_after_folding(text: str) -> None:
    assert index_text(fold(text)) == index_text(text)
    assert match_query(fold(text)) == match_query(text)
    assert index_text(text) == " ".join(atom.text for atom in atoms(fold(text)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use tabs.", "use  TABS"),
        ("“先给结论”！", "先给结论"),
        ("ＡＢＣ", "abc"),
        ("café", "CAFE"),
        ("- item", "item"),
        ("wait…", "wait"),
        ("line\nbreak", "line break"),
    ],
)
def test_texts_that_say_the_same_have_one_normal_form(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"), [("c#", "c"), ("c++", "c"), (".net", "net"), ("-5", "5"), ("50%", "50"), ("用", "不用")]
)
def test_texts_that_do_not_say_the_same_keep_apart(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


@given(ANY_TEXT | SCRIPTS)
def test_every_folded_character_knows_where_it_came_from(text: str) -> None:
    folded, origins = fold_with_origins(text)
    assert len(folded) == len(origins)
    assert all(0 <= start < end <= len(text) for start, end in origins)
    assert list(origins) == sorted(origins)


@given(SCRIPTS, SCRIPTS)
def test_highlights_are_in_order_apart_and_match_by_themselves(question: str, text: str) -> None:
    marked = spans(question, text)
    assert all(end < start for (_, end), (start, _) in pairwise(marked))
    assert all(coverage(question, text[start:end]) > 0 for start, end in marked)


def test_highlights_are_stretches_of_the_original_text() -> None:
    text = "Ｎｏｄｅ．ｊｓ with C++; 偏好组件写法的人 in a cafe\u0301, ½ painted"
    marked = spans("node.js c++ 组件写法 café painting", text)
    assert [text[start:end] for start, end in marked] == ["Ｎｏｄｅ．ｊｓ", "C++", "组件写法", "cafe\u0301", "painted"]


def test_coverage_is_the_share_of_informative_terms() -> None:
    assert coverage("the build tool of webpack", "Webpack builds everything") == pytest.approx(2 / 3)
    assert coverage("组件写法", "组件", "写法") == pytest.approx(2 / 3)
    assert coverage("node.js", "node js") == 1
    assert coverage("webpack") == 0


@given(
    st.lists(
        st.builds("{}{}{}".format, st.text("aeiouybcdlstzwx", max_size=6), SUFFIX, SUFFIX).filter(bool), unique=True
    )
)
def test_the_stem_is_the_one_sqlite_stores(words: list[str]) -> None:
    connection = apsw.Connection(":memory:")
    list(connection.execute(create_table_sql("stems", ["word"])))
    list(connection.execute("CREATE VIRTUAL TABLE stored USING fts5vocab(stems, instance)"))
    for number, word in enumerate(words):
        list(connection.execute("INSERT INTO stems(rowid, word) VALUES(?, ?)", (number, word)))
    assert dict(connection.execute("SELECT doc, term FROM stored")) == {n: stem(word) for n, word in enumerate(words)}
    connection.close()


def test_a_deleted_text_leaves_no_trace_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    shelf = Shelf(str(path))
    shelf.put(*(f"common words zanzibarsecret{number}" for number in range(50)))
    assert shelf.find("zanzibarsecret7") == {8}
    shelf.connection.execute("PRAGMA secure_delete=ON").fetchall()
    shelf.clear()
    shelf.connection.execute("VACUUM").fetchall()
    assert shelf.find("zanzibarsecret7 common") == set()
    shelf.connection.close()
    assert b"anzibarsecre" not in path.read_bytes()


def test_a_table_may_have_any_name_and_columns() -> None:
    connection = apsw.Connection(":memory:")
    list(connection.execute(create_table_sql('odd "name"', ["order", "two words"])))
    list(connection.execute(secure_delete_sql('odd "name"')))
    list(connection.execute('INSERT INTO "odd ""name"""("order", "two words") VALUES(?, ?)', ("one", "two")))
    assert list(
        connection.execute('SELECT rowid FROM "odd ""name""" WHERE "odd ""name""" MATCH ?', (match_query("two"),))
    )
    connection.close()
