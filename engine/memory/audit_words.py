"""The few words by which an audit suspects a momentary or an unfinished memory; modest on purpose, it only asks."""

import re

# Words that time a statement. Words that also name lasting things (临时文件, current, 当前项目) are left to the gate.
_MOMENTS = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|right now|just now|for now|this time|at the moment|temporarily)\b"
    r"|今天|今日|今晚|昨天|明天|刚才|刚刚|此刻|眼下|这一次|这次|暂时|稍后|还差\s*\d+",
    re.IGNORECASE,
)
_PLACEHOLDERS = re.compile(
    r"\{\{ ?[\w -]{0,60}\w ?\}\}|\blorem ipsum\b"
    r"|\[(?:insert|your|fill in|todo)\b[^\]\n]{0,60}\]|<(?:your|insert)[ _-][^>\n]{1,60}>"
    r"|待补充|待填写|请在此处?填写|在此输入",
    re.IGNORECASE,
)
_NOTHING_ELSE = re.compile(
    r"\W*(?:todo|tbd|n/?a|none|xxx+|foo(?: bar)?|test(?: memory)?|asdf+|测试(?:记忆)?|无|占位(?:符)?)\W*", re.IGNORECASE
)


def transient_words(name: str, description: str) -> tuple[str, ...]:
    """The words of a moment in a name (its dashes read as spaces) or description, each once."""
    found = _MOMENTS.findall(f"{name.replace('-', ' ')}\n{description}")
    return tuple(dict.fromkeys(word.casefold() for word in found))


def template_text(description: str, body: str = "") -> bool:
    """Whether a description holds an unfilled placeholder, or it or the body is nothing but one; bodies may hold code."""
    empty_words = any(text.strip() and _NOTHING_ELSE.fullmatch(text) for text in (description, body))
    return empty_words or bool(_PLACEHOLDERS.search(description))
