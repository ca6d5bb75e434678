"""Pictures of the screens: sizes, languages, themes, glyph sets and states, covered in pairs."""

import shutil
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.memory.listing import Filter
from engine.memory.model import Changes
from spark_tui.text.glyphs import use_glyphs
from spark_tui.text.i18n import use_language
from tests.support import Place
from tests.tui.desk import Desk, take_seat
from tests.tui.gallery import furnished

Play = Callable[[Desk], Awaitable[None]]


@dataclass(frozen=True)
class Picture:
    """What a picture shows, and in which of each kind."""

    name: str
    size: tuple[int, int]
    play: Play
    language: str = "en"
    look: str = "spark-dark"
    glyphs: str = "unicode"
    read_only: bool = False
    fresh: bool = False
    home: str = "home"


def keys(*pressed: str) -> Play:
    async def play(desk: Desk) -> None:
        await desk.press(*pressed)

    return play


async def search(desk: Desk) -> None:
    await desk.press("slash")
    await desk.paste("组件 webpack")
    await desk.until(lambda: desk.memory.found is not None)
    await desk.press("enter")


async def reasons(desk: Desk) -> None:
    await search(desk)
    await desk.press("x")


async def page(desk: Desk) -> None:
    await desk.put_cursor_on("build-with-vite")
    await desk.press("enter")
    await desk.until(lambda: "1.3" in desk.text)


async def page_beside(desk: Desk) -> None:
    await desk.put_cursor_on("build-with-vite")
    await desk.until(lambda: "1.3" in desk.text)


async def superseded(desk: Desk) -> None:
    old = next(each for each in desk.engine.listing.window(Filter(state=None)) if each.invalid_at)
    desk.memory.list.move_to(old.id)
    await desk.until(lambda: old.superseded_by and old.superseded_by in desk.text)


async def refused_form(desk: Desk) -> None:
    await desk.press("a")
    await desk.until(lambda: desk.app.screen.query("#field-name"))
    await desk.paste("Prefers tabs over spaces")
    await desk.fill("name", "Not a Slug")
    await desk.press("enter")
    await desk.until(lambda: "not-a-slug" in desk.text)


async def edit_form(desk: Desk) -> None:
    await desk.put_cursor_on("build-with-vite")
    await desk.press("e")
    await desk.until(lambda: desk.app.screen.query("#field-name"))


async def conflict(desk: Desk) -> None:
    await edit_form(desk)
    await desk.fill("description", "vite only")
    desk.engine.store.edit(desk.entry("build-with-vite").id, Changes(description="vite 是唯一的打包工具"))
    await desk.press("enter")
    await desk.until(lambda: "vite only" in desk.text and "- " in desk.text)
    await desk.until(lambda: not desk.app.screen.query("#field-name"))


async def history(desk: Desk) -> None:
    await desk.put_cursor_on("answer-first")
    await desk.press("h")
    await desk.until(lambda: "v1" in desk.text)


async def injection(desk: Desk) -> None:
    await desk.press("i")
    await desk.until(lambda: "<user-memory>" in desk.text)


async def marked_and_delete(desk: Desk) -> None:
    await desk.press("j", "space", "space", "D")


async def facets_chosen(desk: Desk) -> None:
    await desk.press("shift+tab", "down", "down", "enter", "tab")


async def as_of(desk: Desk) -> None:
    await desk.press("t")
    await desk.paste("-20d")
    await desk.press("enter")


async def one_setting(desk: Desk) -> None:
    await desk.press("7", *["j"] * 8, "enter")


async def refused_candidate(desk: Desk) -> None:
    await desk.press("2", "G", "k", "y")
    await desk.until(lambda: "the candidate still waits" in desk.text)


async def edited_candidate(desk: Desk) -> None:
    await desk.press("2", "j", "j", "j", "e")
    await desk.until(lambda: desk.app.screen.query("#field-description"))
    await desk.fill("description", "先给结论")
    await desk.until(lambda: desk.app.screen.query("#digest"))


PICTURES = (
    Picture("list", (80, 24), keys("j", "j")),
    Picture("list_wide", (120, 40), page_beside, look="spark-light"),
    Picture("list_broad", (160, 50), superseded, language="zh_CN"),
    Picture("list_small", (60, 20), keys("j", "space"), language="zh_CN", look="contrast-dark"),
    Picture("list_tiny", (40, 12), keys("G"), look="mono"),
    Picture("list_ascii", (80, 24), keys("j"), look="mono", glyphs="ascii"),
    Picture("list_blocks", (80, 24), facets_chosen, look="contrast-light", glyphs="blocks", language="zh_CN"),
    Picture("facets_tiny", (40, 12), keys("tab"), language="zh_CN"),
    Picture("read_only", (60, 20), as_of, look="ansi-dark", read_only=True),
    Picture("first_steps", (80, 24), keys(), language="zh_CN", look="spark-light", fresh=True),
    Picture("search", (80, 24), search, language="zh_CN"),
    Picture("reasons", (120, 40), reasons, look="contrast-dark"),
    Picture("page", (80, 24), page, language="zh_CN", look="ansi-light"),
    Picture("page_tiny", (40, 12), page, glyphs="blocks"),
    Picture("form_refused", (80, 24), refused_form),
    Picture("form_edit", (60, 20), edit_form, language="zh_CN", look="spark-light"),
    Picture("delete", (80, 24), marked_and_delete, language="zh_CN"),
    Picture("conflict", (120, 40), conflict, language="zh_CN"),
    Picture("history", (80, 24), history),
    Picture("injection", (80, 24), injection, look="spark-light"),
    Picture("palette", (60, 20), keys("ctrl+p"), language="zh_CN"),
    Picture("help", (80, 24), keys("question_mark"), language="zh_CN", look="contrast-light"),
    Picture("settings", (120, 40), keys("7", "j"), language="zh_CN"),
    Picture("setting", (80, 24), one_setting),
    Picture("candidates", (120, 40), keys("2", "j", "j", "j"), language="zh_CN", home="review"),
    Picture("candidate_refused", (80, 24), refused_candidate, look="spark-light", home="review"),
    Picture("candidate_edit", (80, 24), edited_candidate, language="zh_CN", look="contrast-dark", home="review"),
    Picture("candidate_rename", (60, 20), keys("2", "G", "r"), look="ansi-light", glyphs="blocks", home="review"),
    Picture("candidates_tiny", (40, 12), keys("2", "space", "space"), language="zh_CN", look="mono", home="review"),
    Picture("candidates_none", (80, 24), keys("2"), language="zh_CN", look="contrast-light", read_only=True),
    Picture("dropped", (60, 20), keys("2", "]", "j"), language="zh_CN", look="ansi-dark", home="review"),
    Picture("learning", (80, 24), keys("2", "]", "]", "j"), look="mono", glyphs="ascii", home="review"),
    Picture("changes", (120, 40), keys("2", "["), look="contrast-dark", home="review"),
)


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Path]:
    """A furnished machine, whose folder is everybody's ``~`` here, and a copy to put it back from."""
    root = tmp_path_factory.mktemp("studio")
    place = furnished(root / "me")
    shutil.copytree(root / "me", root / "copy")
    return place, root


@pytest.fixture
def home(studio: tuple[Place, Path], monkeypatch: pytest.MonkeyPatch) -> Place:
    """The furnished home as it was at first."""
    place, root = studio
    shutil.rmtree(root / "me")
    shutil.copytree(root / "copy", root / "me")
    monkeypatch.setenv("HOME", str(root / "me"))
    return place


@pytest.fixture(autouse=True)
def _words_and_marks() -> Iterator[None]:
    yield
    use_language("en")
    use_glyphs("unicode")


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_picture(picture: Picture, request: pytest.FixtureRequest, snap_compare: Any) -> None:
    home: Place = request.getfixturevalue(picture.home)
    use_language(picture.language)
    use_glyphs(picture.glyphs)
    place = Place(Path.home() / "fresh") if picture.fresh else home
    app = take_seat(place, look=picture.look, read_only=picture.read_only)

    async def run_before(pilot: "Pilot[None]") -> None:
        desk = Desk(place, app.home_engine, app, pilot)
        await desk.settled()
        await picture.play(desk)
        await desk.settled()

    try:
        assert snap_compare(app, terminal_size=picture.size, run_before=run_before)
    finally:
        app.close()
