"""Every setting there is: key, type, default, allowed range and what it does; the one table doors and docs read."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine.errors import ValidationFailed

Value = bool | int | float | str
SCOPES: Final = ("user", "project", "agent")


class Kind(StrEnum):
    """What a value is written as."""

    SWITCH = "switch"
    WHOLE = "whole"
    NUMBER = "number"
    TEXT = "text"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting; ``low`` and ``high`` bound numbers, ``choices`` words. ``internal`` ones are not for people."""

    key: str
    kind: Kind
    default: Value
    meaning: str
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    internal: bool = False

    @property
    def allowed(self) -> str:
        """The allowed values in words: ``a number from 200 to 32000``, ``any text``."""
        if self.kind is Kind.SWITCH:
            return "true or false"
        if self.kind is Kind.CHOICE:
            return "one of " + ", ".join(self.choices)
        if self.kind is Kind.TEXT:
            return "any text"
        if math.isinf(self.high):
            return f"a number, {self.low:g} or more"
        return f"a number from {self.low:g} to {self.high:g}"

    def parsed(self, text: str) -> Value:
        """The value a person typed. Raises ``ValidationFailed`` with the allowed range."""
        word = text.strip()
        if self.kind is Kind.SWITCH and word.casefold() in _SWITCH:
            return self.checked(_SWITCH[word.casefold()])
        if self.kind in (Kind.WHOLE, Kind.NUMBER):
            return self.checked(_number(word))
        return self.checked(word)

    def checked(self, value: object) -> Value:
        """The value when it is of the right type and in range, else ``ValidationFailed`` with the allowed range."""
        if self.kind is Kind.SWITCH and isinstance(value, bool):
            return value
        if self.kind is Kind.TEXT and isinstance(value, str) and "\n" not in value and len(value) <= 500:
            return value
        if self.kind is Kind.CHOICE and isinstance(value, str) and value in self.choices:
            return value
        if self.kind in (Kind.WHOLE, Kind.NUMBER) and isinstance(value, int | float) and not isinstance(value, bool):
            whole = self.kind is Kind.NUMBER or float(value).is_integer()
            if whole and self.low <= value <= self.high:
                return int(value) if self.kind is Kind.WHOLE else float(value)
        raise ValidationFailed(f"{self.key} takes {self.allowed}", key=self.key, allowed=self.allowed)


def _number(word: str) -> float | str:
    try:
        value = float(word)
    except ValueError:
        return word
    return value if math.isfinite(value) else word


_SWITCH: Final = {
    "true": True,
    "on": True,
    "yes": True,
    "1": True,
    "false": False,
    "off": False,
    "no": False,
    "0": False,
}
_QUOTAS: Final = {"user": 100, "project": 200, "agent": 50}
TABLE: Final = (
    Setting("memory.enabled", Kind.SWITCH, True, "Master switch: off stops injection, writing and consolidation."),
    Setting(
        "memory.extractionProviderId", Kind.TEXT, "", "Provider that extracts memories; empty: the turn's own model."
    ),
    Setting("memory.extractionModel", Kind.TEXT, "", "Model that extracts memories; empty: the turn's own model."),
    Setting(
        "memory.embeddingProviderId",
        Kind.TEXT,
        "local",
        "Search by meaning: local (embedded model), none (words only) or an OpenAI-compatible provider.",
    ),
    Setting("memory.embeddingModel", Kind.TEXT, "", "Model of the embedding provider; the embedded one needs none."),
    Setting(
        "memory.consolidationEnabled", Kind.SWITCH, True, "Merge duplicates and propose general rules now and then."
    ),
    Setting("memory.consolidationThreshold", Kind.WHOLE, 30, "Active entries a layer needs to be consolidated.", low=2),
    Setting("memory.consolidationIntervalDays", Kind.NUMBER, 7.0, "Days between consolidations of a layer.", low=0.001),
    Setting("memory.maxInjectTokens", Kind.WHOLE, 4000, "Most tokens a memory block may have.", low=200, high=32_000),
    Setting("memory.timeDecayLambda", Kind.NUMBER, 0.01, "How fast old memories sink: exp(−λ × days).", low=0, high=1),
    Setting(
        "memory.timeDecayFloor",
        Kind.NUMBER,
        0.0,
        "What is left of an old memory's rank: 0 lets it sink to nothing, 1 switches decay off.",
        low=0,
        high=1,
    ),
    *(
        Setting(
            f"memory.quota.{scope}",
            Kind.WHOLE,
            _QUOTAS[scope],
            f"Most active entries of one {scope} layer.",
            1,
            100_000,
        )
        for scope in SCOPES
    ),
    Setting(
        "memory.quotaPolicy",
        Kind.CHOICE,
        "drop",
        "A full layer drops what is extracted, or archives its lowest scored extracted entry (evict).",
        choices=("drop", "evict"),
    ),
    Setting("model.defaultProviderId", Kind.TEXT, "", "Provider used where nothing else is chosen."),
    Setting("model.defaultModel", Kind.TEXT, "", "Model used where nothing else is chosen."),
    Setting("memory.vecDimension", Kind.WHOLE, 0, "Dimension of the vector table.", low=0, internal=True),
    Setting("memory.ftsBackfillDone", Kind.SWITCH, True, "Whether the full-text index is complete.", internal=True),
    Setting(
        "project.worktrees",
        Kind.CHOICE,
        "shared",
        "Linked git worktrees share the main checkout's memories, or have their own.",
        choices=("shared", "separate"),
    ),
    Setting("ui.language", Kind.CHOICE, "auto", "Language of screens and messages.", choices=("auto", "en", "zh")),
    Setting("ui.theme", Kind.TEXT, "spark-dark", "Colours of the screens; NO_COLOR always wins."),
    Setting(
        "ui.glyphs",
        Kind.CHOICE,
        "unicode",
        "Marks and lines the terminal's font can draw.",
        choices=("unicode", "blocks", "ascii"),
    ),
    Setting("ui.mouse", Kind.CHOICE, "auto", "Mouse; auto: off over SSH.", choices=("auto", "on", "off")),
    Setting("hooks.autostart", Kind.SWITCH, True, "A hook may start the background engine when none runs."),
    Setting("log.level", Kind.CHOICE, "info", "debug may write memory texts to the log.", choices=("info", "debug")),
)
BY_KEY: Final = {setting.key: setting for setting in TABLE}
