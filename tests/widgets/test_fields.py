"""The filter box and the fields of forms."""

from spark_tui.widgets.filter_box import FilterBox
from spark_tui.widgets.form_field import AreaField, ChoiceField, FormField, TextField
from spark_tui.widgets.rows import Column, ListSource
from spark_tui.widgets.window_list import WindowList
from tests.widgets.stage import Stage, screen_lines


async def test_every_key_is_reported_and_the_box_never_loses_one() -> None:
    box = FilterBox("search")
    app = Stage(box)
    async with app.run_test(size=(60, 20)) as pilot:
        assert not box.is_open
        box.open()
        await pilot.press("q", "g", "question_mark", "backspace", "a")
        box.set_count("3 of 40")
        await pilot.pause()
        assert [message.text for message in app.stage.heard(FilterBox.Changed)] == ["q", "qg", "qg?", "qg", "qga"]
        assert screen_lines(app)[0].split() == ["/", "qga", "3", "of", "40"]
        assert app.stage.asked == []


async def test_enter_and_down_hand_over_and_escape_ends_the_search() -> None:
    box = FilterBox()
    app = Stage(box)
    async with app.run_test(size=(60, 20)) as pilot:
        box.open("中文")
        await pilot.press("enter", "down")
        assert [message.text for message in app.stage.heard(FilterBox.Submitted)] == ["中文", "中文"]
        changes = len(app.stage.heard(FilterBox.Changed))
        await pilot.press("escape")
        assert (box.is_open, box.value) == (False, "")
        assert len(app.stage.heard(FilterBox.Dismissed)) == 1
        assert len(app.stage.heard(FilterBox.Changed)) == changes


async def test_an_open_box_keeps_its_text_when_it_is_opened_again() -> None:
    box = FilterBox()
    app = Stage(box, WindowList((Column("name", "name", 10),), ListSource()))
    async with app.run_test(size=(60, 20)) as pilot:
        box.open()
        await pilot.press("a", "b")
        app.stage.query_one(WindowList).focus()
        box.open()
        await pilot.press("c")
        assert box.value == "abc"


async def test_a_text_field_knows_its_value_and_whether_it_changed() -> None:
    app = Stage(lambda: TextField("name", "name", "old", help="lower-case words", limit=6))
    async with app.run_test(size=(60, 20)) as pilot:
        field = app.stage.query_one(TextField)
        field.focus_control()
        assert (field.value, field.dirty) == ("old", False)
        await pilot.press("e", "r", "x", "x")
        assert (field.value, field.dirty) == ("olderx", True)
        assert app.stage.heard(FormField.Changed)[-1].field is field


async def test_an_error_takes_the_place_of_the_help_and_gives_it_back() -> None:
    app = Stage(lambda: TextField("limit", "limit", "9", help="1 to 8"))
    async with app.run_test(size=(60, 20)) as pilot:
        field = app.stage.query_one(TextField)
        assert "1 to 8" in screen_lines(app)[2]
        field.set_error("9 is more than 8")
        await pilot.pause()
        assert screen_lines(app)[2].strip() == "✗ 9 is more than 8"
        field.set_error("")
        await pilot.pause()
        assert screen_lines(app)[2].strip() == "1 to 8"


async def test_fields_show_escapes_as_stand_ins_and_keep_them_in_the_value() -> None:
    hostile = "red \x1b[31m \x9b \u202e end"
    app = Stage(lambda: TextField("a", "a", hostile), lambda: AreaField("b", "b", f"{hostile}\nsecond"))
    async with app.run_test(size=(60, 20)):
        line, area = app.stage.query_one(TextField), app.stage.query_one(AreaField)
        sent = "".join(screen_lines(app))
        assert not {"\x1b", "\x9b", "\u202e"} & set(sent)
        assert "end" in sent
        assert (line.value, area.value) == (hostile, f"{hostile}\nsecond")


async def test_an_untouched_area_gives_back_exactly_what_it_was_given() -> None:
    field = AreaField("body", "body", "one\r\ntwo\r\n")
    app = Stage(field)
    async with app.run_test(size=(60, 20)) as pilot:
        assert field.value == "one\r\ntwo\r\n"
        field.focus_control()
        await pilot.press("x", "enter")
        assert field.dirty
        assert field.value.startswith("x")


async def test_a_choice_goes_round_with_the_arrows_and_shows_the_chosen_one_where_there_is_little_room() -> None:
    choices = [("user", "user"), ("feedback", "反馈"), ("project", "project"), ("reference", "reference")]
    field = ChoiceField("type", "type", choices, "feedback")
    app = Stage(field)
    async with app.run_test(size=(24, 12)) as pilot:
        field.focus_control()
        assert (field.value, field.dirty) == ("feedback", False)
        await pilot.press("right", "right")
        assert (field.value, field.dirty) == ("reference", True)
        assert screen_lines(app)[1].split() == ["❯✓reference", "4/4"]
        await pilot.press("space")
        assert field.value == "user"
        await pilot.press("left")
        assert field.value == "reference"
        field.set_choices(choices[:2])
        assert field.value == "user"


async def test_only_the_label_of_the_focused_field_stands_out() -> None:
    app = Stage(lambda: TextField("a", "first", ""), lambda: TextField("b", "second", ""))
    async with app.run_test(size=(60, 20)) as pilot:
        first, second = app.stage.query(TextField)
        first.focus_control()
        await pilot.pause()
        assert (first.has_class("-focus"), second.has_class("-focus")) == (True, False)
        second.focus_control()
        await pilot.pause()
        assert (first.has_class("-focus"), second.has_class("-focus")) == (False, True)
