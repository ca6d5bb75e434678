"""One measured figure beside its reference and goal, as a row of the table and of ``results.json``; measures nothing."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks.timing import Samples, Timed

HEADINGS = ("what", "reference", "figure", "cpu", "ratio", "goal", "met")


@dataclass(frozen=True, slots=True)
class Goal:
    """A limit of ``times`` the reference plus ``plus`` (in the figure's unit); ``at_least`` turns it round."""

    times: float = 0.0
    plus: float = 0.0
    at_least: bool = False

    def limit(self, reference: float) -> float:
        """The limit in the figure's unit."""
        return self.times * reference + self.plus

    def is_met(self, value: float, reference: float) -> bool:
        """Whether a value keeps it."""
        limit = self.limit(reference)
        return value >= limit if self.at_least else value <= limit

    def words(self, unit: str) -> str:
        """How the table writes it: ``≤ 2.5 × + 150 ms``."""
        parts = [f"{self.times:g} ×"] if self.times else []
        if self.plus or not parts:
            parts.append(f"{self.plus:g} {unit}".strip())
        return ("≥ " if self.at_least else "≤ ") + " + ".join(parts)


@dataclass(frozen=True, slots=True)
class Figure:
    """``what`` at the quantile ``share``, beside the same quantile of the reference; no goal: to know, not to judge."""

    what: str
    values: Samples
    reference: tuple[str, Samples] | None = None
    goal: Goal | None = None
    share: float = 0.5
    cpu: Samples | None = None

    @property
    def value(self) -> float:
        """The figure itself, in its unit."""
        return self.values.at(self.share)

    @property
    def reference_value(self) -> float:
        """The reference in the same unit; 0 without one."""
        return self.reference[1].at(self.share) if self.reference else 0.0

    @property
    def ratio(self) -> float | None:
        """Figure ÷ reference, None where there is none."""
        return self.value / self.reference_value if self.reference_value else None

    @property
    def met(self) -> bool | None:
        """Whether the goal is kept; None without one."""
        return self.goal.is_met(self.value, self.reference_value) if self.goal else None


def figure(
    what: str,
    timed: Timed,
    reference: tuple[str, Timed] | None = None,
    goal: Goal | None = None,
    share: float = 0.5,
) -> Figure:
    """A figure of timed rounds."""
    beside = (reference[0], reference[1].wall) if reference else None
    return Figure(what, timed.wall, beside, goal, share, timed.cpu)


def row(each: Figure) -> tuple[str, ...]:
    """The cells of the table."""
    unit, goal = each.values.unit, each.goal
    return (
        f"{each.what}{_quantile(each.share)}",
        f"{each.reference[0]}: {_number(each.reference_value)} {unit}" if each.reference else "–",
        f"{_number(each.value)} {unit} ({_number(each.values.low)}–{_number(each.values.high)})",
        _number(each.cpu.at(each.share)) if each.cpu else "–",
        f"{each.ratio:.2f}" if each.ratio is not None else "–",
        goal.words(unit) if goal else "–",
        {True: "yes", False: "NO", None: "–"}[each.met],
    )


def document(each: Figure) -> dict[str, Any]:
    """The figure for ``results.json``."""
    return {
        "what": each.what,
        "unit": each.values.unit,
        "quantile": each.share,
        "value": each.value,
        **_summary(each.values),
        "cpu_median": each.cpu.median if each.cpu else None,
        "reference": {"what": each.reference[0], "value": each.reference_value, **_summary(each.reference[1])}
        if each.reference
        else None,
        "ratio": each.ratio,
        "goal": each.goal.words(each.values.unit) if each.goal else None,
        "met": each.met,
    }


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Rows under their headings, columns aligned."""
    listed = [HEADINGS, *rows]
    widths = [max(len(cells[column]) for cells in listed) for column in range(len(HEADINGS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) for cells in listed]
    return "\n".join(line.rstrip() for line in lines)


def _summary(samples: Samples) -> dict[str, float | int]:
    return {
        "median": samples.median,
        "p95": samples.at(0.95),
        "min": samples.low,
        "max": samples.high,
        "rounds": len(samples.values),
    }


def _quantile(share: float) -> str:
    return "" if share == 0.5 else f", p{share * 100:.0f}"


def _number(value: float) -> str:
    if value == 0 or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"
