"""The words of the chosen language; English is the source, every other language one catalogue under ``locale``."""

import gettext
import io
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from spark_tui.text.po import pack_mo, read_po

LOCALE = Path(__file__).resolve().parent.parent / "locale"
ENGLISH = "en"
CHINESE = "zh_CN"
LANGUAGES = (ENGLISH, CHINESE)
_current: gettext.NullTranslations = gettext.NullTranslations()
_language = ENGLISH


def _(message: str) -> str:
    """The message in the current language; itself where there is no translation."""
    return _current.gettext(message) if message else ""


def ngettext(one: str, many: str, n: int) -> str:
    """The form of a counted message for ``n``."""
    return _current.ngettext(one, many, n)


def N_(message: str) -> str:
    """Marks a message for the catalogue where it is defined; it is translated where it is shown."""
    return message


def use_language(language: str) -> None:
    """Switch every later ``_`` to ``en`` or ``zh_CN``; ``KeyError`` for a language that has no catalogue."""
    global _current, _language
    if language not in LANGUAGES:
        raise KeyError(language)
    _current = _catalogue(language)
    _language = language


def language() -> str:
    """The language in use."""
    return _language


def chosen_language(setting: str, environ: Mapping[str, str]) -> str:
    """The language of a setting (``auto`` or a name), else of LC_ALL, LC_MESSAGES, LANG; English when none fits."""
    if setting in LANGUAGES:
        return setting
    named = setting if setting and setting != "auto" else ""
    named = named or next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    return CHINESE if named.lower().replace("-", "_").startswith("zh") else ENGLISH


@lru_cache
def _catalogue(name: str) -> gettext.NullTranslations:
    if name == ENGLISH:
        return gettext.NullTranslations()
    source = (LOCALE / name / "LC_MESSAGES" / "spark.po").read_text(encoding="utf-8")
    return gettext.GNUTranslations(io.BytesIO(pack_mo(read_po(source))))
