"""The words of the marks that stand where something was taken out; they hold nothing of it."""


def lines(text: str) -> str:
    """How many lines a text has, in words; blank ones at its ends are not counted."""
    count = text.strip("\r\n").count("\n") + 1 if text.strip() else 0
    return "1 line" if count == 1 else f"{count} lines"
