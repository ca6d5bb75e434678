"""An agent's environment is told from a person's shell."""

import pytest

from engine.doors.person import PersonRequired, agent_marker, require_person


@pytest.mark.parametrize(
    ("environ", "marker"),
    [
        ({}, None),
        ({"PATH": "/bin", "EDITOR": "vi"}, None),
        ({"CLAUDECODE": "1"}, "CLAUDECODE"),
        ({"SPARK_AGENT": "codex"}, "SPARK_AGENT"),
        ({"CODEX_SANDBOX": "seatbelt"}, "CODEX_SANDBOX"),
        ({"CODEX_HOME": "/home/me/.codex"}, None),
        ({"CODEX_HOME": "/home/me/.codex", "CODEX_THREAD_ID": "7"}, "CODEX_THREAD_ID"),
        ({"CLAUDECODE": "", "SPARK_AGENT": ""}, None),
        ({"MY_CODEX_SANDBOX": "1", "CLAUDE_CONFIG_DIR": "/x"}, None),
    ],
)
def test_a_marker_is_found(environ: dict[str, str], marker: str | None) -> None:
    assert agent_marker(environ) == marker
    if marker is None:
        require_person(environ)
    else:
        with pytest.raises(PersonRequired) as refused:
            require_person(environ)
        assert refused.value.details == {"marker": marker}
        assert marker in refused.value.message
