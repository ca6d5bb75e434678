"""Settings in the person's words: what each one does, what it may be, when it takes effect."""

from dataclasses import dataclass

from spark_tui.text.i18n import N_, _
from spark_tui.text.lines import Block, Line, blank, pair
from spark_tui.text.safe import one_line

_MEANINGS = {
    "memory.enabled": N_("The master switch: off stops injection, writing and consolidation."),
    "memory.extractionProviderId": N_("The provider that extracts memories; empty: the model of the turn."),
    "model.defaultProviderId": N_("The provider that answers where nothing else is chosen."),
    "model.defaultModel": N_("Its model; empty: the provider's first."),
    "memory.extractionModel": N_("The model that extracts memories; empty: the model of the turn."),
    "memory.embeddingProviderId": N_(
        "Search by meaning: local (the embedded model), none (words only), or an OpenAI-compatible provider."
    ),
    "memory.embeddingModel": N_("The model of the embedding provider; the embedded one needs none."),
    "memory.consolidationEnabled": N_("Merge duplicates and propose general rules now and then."),
    "memory.consolidationThreshold": N_("How many active entries a layer needs to be consolidated."),
    "memory.consolidationIntervalDays": N_("Days between two consolidations of a layer."),
    "memory.maxInjectTokens": N_("The most tokens a memory block may have, its fixed text included."),
    "memory.timeDecayLambda": N_("How fast old memories sink in the ranking: rank x exp(-lambda x days)."),
    "memory.timeDecayFloor": N_(
        "What is left of an old memory's rank: 0 lets it sink to nothing, 1 switches decay off."
        " Decay costs recall for questions about the past."
    ),
    "memory.quota.user": N_("The most active entries in the user layer."),
    "memory.quota.project": N_("The most active entries in one project layer."),
    "memory.quota.agent": N_("The most active entries in one agent layer."),
    "memory.quotaPolicy": N_(
        "A full layer drops what is extracted (drop), or archives its lowest scored extracted entry (evict)."
    ),
    "project.worktrees": N_("Linked git worktrees share the memories of the main checkout, or have their own."),
    "ui.language": N_("The language of screens and messages; from the next start."),
    "ui.theme": N_("The colours of the screens; NO_COLOR always wins."),
    "ui.glyphs": N_("Marks and lines the terminal's font can draw; from the next start."),
    "ui.mouse": N_("The mouse; auto: off over SSH. From the next start."),
    "hooks.autostart": N_("A hook may start the background engine when none runs."),
    "log.level": N_("debug may write texts of memories into the log."),
}


@dataclass(frozen=True, slots=True)
class SettingView:
    """One setting as it stands: ``value`` and ``default`` as text, ``allowed`` in the engine's words."""

    key: str
    value: str
    default: str
    allowed: str
    meaning: str
    is_set: bool

    @property
    def group(self) -> str:
        """The category: what stands before the first dot."""
        return self.key.partition(".")[0]

    @property
    def name(self) -> str:
        """The rest of the key."""
        return self.key.partition(".")[2]


def value_word(value: bool | int | float | str) -> str:
    """A value as people read it: on and off, numbers without a tail of zeros, a dash for nothing."""
    if isinstance(value, bool):
        return _("on") if value else _("off")
    if isinstance(value, float):
        return f"{value:g}"
    return one_line(str(value)) or "-"


def meaning_words(setting: SettingView) -> str:
    """What a setting does."""
    return _(_MEANINGS[setting.key]) if setting.key in _MEANINGS else setting.meaning


def setting_lines(setting: SettingView, problems: tuple[str, ...]) -> list[Block]:
    """The page about one setting."""
    lines: list[Block] = [
        Line((("strong", setting.key),)),
        Line((("text", meaning_words(setting)),)),
        blank(),
        pair(_("value"), setting.value, style="accent" if setting.is_set else "text"),
        pair(_("default"), setting.default),
        pair(_("allowed"), allowed_words(setting.allowed)),
    ]
    if setting.group == "memory":
        lines.append(pair(_("effect"), _("from the next turn; other agents: from their next session")))
    lines += [Line((("error", one_line(each)),)) for each in problems if setting.key in each]
    return lines


def allowed_words(allowed: str) -> str:
    """The engine's words for a range, in the person's language."""
    if allowed == "true or false":
        return _("on or off")
    if allowed == "any text":
        return _("any text")
    for start, words in (
        ("one of ", _("one of {rest}")),
        ("a number from ", _("a number from {rest}")),
        ("a number, ", _("a number, {rest}")),
    ):
        if allowed.startswith(start):
            rest = allowed.removeprefix(start)
            return words.format(rest=rest.replace(" to ", " - ").replace(" or more", _(" or more")))
    return allowed
