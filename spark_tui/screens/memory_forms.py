"""The keys that open a form or an editor; what happens then is read in when it is first wanted."""

from spark_tui.screens.memory_verbs import MemoryVerbs


class MemoryForms(MemoryVerbs):
    """The actions behind ``a``, ``e`` and ``E``."""

    def do_memory_add(self) -> None:
        """Write a new memory."""
        from spark_tui.screens.memory_form_flow import FormFlow

        self.run_worker(FormFlow(self).add(), exit_on_error=True)

    def do_memory_edit(self) -> None:
        """Edit the memory under the cursor."""
        from spark_tui.screens.memory_form_flow import FormFlow

        if self.list.cursor_key is not None:
            self.run_worker(FormFlow(self).edit(self.list.cursor_key), exit_on_error=True)

    def do_memory_editor(self) -> None:
        """All marked memories in one buffer of the person's editor."""
        from spark_tui.screens.memory_editor_flow import EditorFlow

        self.run_worker(EditorFlow(self).edit(self.target_entries()), exit_on_error=True)
