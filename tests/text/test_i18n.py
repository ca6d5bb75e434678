"""The catalogue: complete, without leftovers, and read as gettext would."""

import ast
import gettext
import io
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spark_tui
from spark_tui.text.i18n import LOCALE, _, chosen_language, language, ngettext, use_language
from spark_tui.text.po import pack_mo, read_po

SOURCE = Path(spark_tui.__file__).parent
CATALOGUE = LOCALE / "zh_CN" / "LC_MESSAGES" / "spark.po"


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    use_language("en")
    yield
    use_language("en")


def used_messages() -> dict[str, str]:
    """Every message id in the source (plural ids joined by NUL) → where it is."""
    found: dict[str, str] = {}
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("_", "N_", "ngettext")
            ):
                words = node.args[:2] if node.func.id == "ngettext" else node.args[:1]
                if all(isinstance(word, ast.Constant) and isinstance(word.value, str) for word in words):
                    key = "\0".join(word.value for word in words if isinstance(word, ast.Constant))
                    found.setdefault(key, f"{file.relative_to(SOURCE)}:{node.lineno}")
    return found


def translations() -> dict[str, str]:
    return {key: text for key, text in read_po(CATALOGUE.read_text(encoding="utf-8")).items() if key}


def test_every_string_of_the_source_is_translated() -> None:
    known = translations()
    missing = {key: place for key, place in used_messages().items() if not known.get(key, "").strip("\0")}
    assert missing == {}


def test_no_translation_is_left_over() -> None:
    assert set(translations()) - set(used_messages()) == set()


def test_a_message_stands_in_the_catalogue_once() -> None:
    ids = re.findall(r'^msgid (".*"(?:\n".*")*)$', CATALOGUE.read_text(encoding="utf-8"), re.M)
    assert sorted(ids) == sorted(set(ids))


def test_a_translation_uses_only_names_its_message_has() -> None:
    extra = {"{day}": {"slashed"}}

    def names(text: str) -> set[str]:
        return {name for _text, name, _spec, _conversion in string.Formatter().parse(text) if name}

    wrong = {
        key: text
        for key, text in translations().items()
        if not names(text) <= names(key) | (extra["{day}"] if "{day}" in key else set())
    }
    assert wrong == {}


def test_messages_follow_the_language() -> None:
    assert _("archive") == "archive"
    use_language("zh_CN")
    assert (language(), _("archive"), _("memory")) == ("zh_CN", "归档", "记忆")
    assert _("a message nobody translated") == "a message nobody translated"
    assert _("") == ""


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(KeyError):
        use_language("fr")


@pytest.mark.parametrize(
    ("setting", "environ", "expected"),
    [
        ("auto", {"LANG": "zh_CN.UTF-8"}, "zh_CN"),
        ("auto", {"LC_ALL": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ("auto", {"LC_MESSAGES": "zh_TW.UTF-8"}, "zh_CN"),
        ("auto", {}, "en"),
        ("zh_CN", {"LANG": "en_US.UTF-8"}, "zh_CN"),
        ("zh", {"LANG": "en_US.UTF-8"}, "zh_CN"),
        ("en", {"LANG": "zh_CN.UTF-8"}, "en"),
    ],
)
def test_the_language_follows_the_setting_then_the_locale(setting: str, environ: dict[str, str], expected: str) -> None:
    assert chosen_language(setting, environ) == expected


WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1, max_size=30)


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r") + '"'


@given(st.dictionaries(WORDS, WORDS.filter(lambda text: text.strip("\0") != ""), max_size=6))
def test_any_catalogue_reads_back_through_gettext(messages: dict[str, str]) -> None:
    lines = {
        key: text for key, text in messages.items() if not re.search("[\v\f\x1c-\x1e\x85\u2028\u2029]", key + text)
    }
    header = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'
    source = header + "".join(f"\nmsgid {quoted(key)}\nmsgstr {quoted(text)}\n" for key, text in lines.items())
    catalogue = gettext.GNUTranslations(io.BytesIO(pack_mo(read_po(source))))
    assert {key: catalogue.gettext(key) for key in lines} == lines


def test_plural_forms_and_continued_strings_are_read() -> None:
    source = (
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
        '"Plural-Forms: nplurals=2; plural=(n!=1);\\n"\n'
        '# a comment\nmsgid "{n} memory"\nmsgid_plural "{n} memories"\n'
        'msgstr[0] "{n} Erin"\n"nerung"\nmsgstr[1] "{n} viele"\n'
    )
    catalogue = gettext.GNUTranslations(io.BytesIO(pack_mo(read_po(source))))
    assert catalogue.ngettext("{n} memory", "{n} memories", 1) == "{n} Erinnerung"
    assert catalogue.ngettext("{n} memory", "{n} memories", 2) == "{n} viele"
    assert ngettext("{n} memory", "{n} memories", 2) == "{n} memories"


def test_a_broken_line_is_named() -> None:
    with pytest.raises(ValueError, match="line 2"):
        read_po('msgid "a"\nmsgstr a\n')
