"""The few words by which an audit suspects an unfinished memory; modest on purpose, it only asks."""

import re

_PLACEHOLDERS = re.compile(
    r"\{\{ ?[\w -]{0,60}\w ?\}\}|\blorem ipsum\b"
    r"|\[(?:insert|your|fill in|todo)\b[^\]\n]{0,60}\]|<(?:your|insert)[ _-][^>\n]{1,60}>"
    r"|待补充|待填写|请在此处?填写|在此输入",
    re.IGNORECASE,
)
_NOTHING_ELSE = re.compile(
    r"\W*(?:todo|tbd|n/?a|none|xxx+|foo(?: bar)?|test(?: memory)?|asdf+|测试(?:记忆)?|无|占位(?:符)?)\W*", re.IGNORECASE
)


def template_text(description: str, body: str = "") -> bool:
    """Whether a description holds an unfilled placeholder, or it or the body is nothing but one; bodies may hold code."""
    empty_words = any(text.strip() and _NOTHING_ELSE.fullmatch(text) for text in (description, body))
    return empty_words or bool(_PLACEHOLDERS.search(description))
