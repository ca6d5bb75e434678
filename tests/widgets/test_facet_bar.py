"""Facets as a tree."""

from spark_tui.widgets.facet_bar import Facet, FacetBar
from tests.widgets.stage import Stage, screen_lines

FACETS = (
    Facet("h", "scope", heading=True),
    Facet("user", "user", "64/100"),
    Facet("project", "project", "180/200", selected=True),
    Facet("a", "spark-tui", "120", depth=1),
    Facet("b", "长名字的项目-with-a-long-name", "60", depth=1),
    Facet("agent", "agent", "12/50", folded=True),
    Facet("c", "reviewer", "12", depth=1),
    Facet("h2", "type", heading=True),
    Facet("feedback", "feedback", "31"),
)


def bar_lines(app: Stage) -> list[str]:
    return [line[:24].rstrip() for line in screen_lines(app)]


async def test_the_tree_shows_counts_and_cuts_labels_never_counts() -> None:
    app = Stage(FacetBar(FACETS))
    async with app.run_test(size=(60, 20)):
        lines = bar_lines(app)
        assert lines[0] == "scope"
        assert lines[1].split() == ["❯", "user", "64/100"]
        assert lines[2].split() == ["✓▾", "project", "180/200"]
        assert lines[4].endswith("⋯ 60")
        assert lines[5].split() == ["▸", "agent", "12/50"]
        assert "reviewer" not in "".join(lines)


async def test_the_cursor_skips_headings_and_stops_at_the_ends() -> None:
    bar = FacetBar(FACETS)
    app = Stage(bar)
    async with app.run_test(size=(60, 20)) as pilot:
        keys = [bar.cursor_key]
        for _step in range(7):
            await pilot.press("j")
            keys.append(bar.cursor_key)
        assert keys == ["user", "project", "a", "b", "agent", "feedback", "feedback", "feedback"]
        await pilot.press("g", "g")
        assert bar.cursor_key == "user"
        await pilot.press("k")
        assert bar.cursor_key == "user"


async def test_left_and_right_fold_and_left_on_a_leaf_goes_to_its_parent() -> None:
    bar = FacetBar(FACETS)
    app = Stage(bar)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("j", "j", "j", "left")
        assert bar.cursor_key == "project"
        await pilot.press("left")
        assert "spark-tui" not in "".join(bar_lines(app))
        await pilot.press("j", "right")
        assert "reviewer" in "".join(bar_lines(app))
        bar.show(FACETS[:-1])
        await pilot.pause()
        assert "reviewer" in "".join(bar_lines(app))
        assert bar.cursor_key == "agent"


async def test_enter_and_a_click_choose_a_facet_but_never_a_heading() -> None:
    app = Stage(FacetBar(FACETS))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("j", "enter")
        await pilot.click(FacetBar, offset=(6, 3))
        await pilot.click(FacetBar, offset=(6, 0))
        assert [message.key for message in app.stage.heard(FacetBar.Chosen)] == ["project", "a"]


async def test_new_counts_keep_the_cursor_and_the_scroll() -> None:
    bar = FacetBar([Facet(f"k{number}", f"label {number}", str(number)) for number in range(60)])
    app = Stage(bar)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("pagedown", "pagedown")
        before = bar_lines(app)
        bar.show([Facet(f"k{number}", f"label {number}", str(number)) for number in range(1, 61)])
        await pilot.pause()
        assert bar.cursor_key == "k40"
        assert [line for line in bar_lines(app) if line.startswith("❯")] == [
            line for line in before if line.startswith("❯")
        ]


async def test_an_empty_bar_survives_every_key() -> None:
    bar = FacetBar()
    app = Stage(bar)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press("j", "k", "G", "left", "right", "enter")
        assert bar.cursor_key is None
        bar.show(FACETS[:1])
        await pilot.press("j", "enter")
        assert bar.cursor_key is None
