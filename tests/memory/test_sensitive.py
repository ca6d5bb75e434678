"""The sensitive gate: what it stops, what it lets pass, and that no text can slow it down (02 §4.3)."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.gate_log import Gate
from engine.memory.gates.filler import filled
from engine.memory.gates.labelled import Example, Part, load
from engine.memory.sensitive.scan import find_sensitive, findings, redact


def items(part: Part) -> list[Example]:
    """The examples of one part of the set; only ``tune`` may be looked at while rules are written."""
    return [each for each in load(part=part) if each.gate is Gate.SENSITIVE]


def test_what_was_found_is_gone_after_redaction_and_the_rest_stays_as_it_is() -> None:
    for item in items(Part.TUNE) + items(Part.HELD):
        left = redact(item.text)
        assert findings(left) == [], item.kind
        assert left == item.text or findings(item.text)


PREFIXES = "sk- sk-ant- sk-proj- AKIA ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ xoxb- xoxp- xoxa- xoxr- xoxs- xapp- AIza"


@pytest.mark.parametrize("prefix", PREFIXES.split())
def test_a_listed_prefix_and_sixteen_characters_are_enough_and_fifteen_are_not(prefix: str) -> None:
    token = "Q7W3E8R1T6Y2U4I9"

    assert [found.kind for found in findings(f"key {prefix}{token}，记住")] == ["api-key"]
    assert findings(f"key {prefix}{token[1:]}") == []


@pytest.mark.parametrize(
    "kind", ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "ANY ", "PGP ", "SSH2 ENCRYPTED "]
)
def test_the_first_line_of_any_private_key_is_enough_and_its_body_is_redacted(kind: str) -> None:
    block = " BLOCK" if kind == "PGP " else ""
    begin, body = f"-----BEGIN {kind}PRIVATE KEY{block}-----", filled("{{b64:64}}\n{{b64:40}}")
    end = begin.replace("BEGIN", "END")

    assert redact(f"a\n{begin}") == "a\n[redacted:private-key]"
    assert redact(f"a\n{begin}\n{body}\n{end}\nb") == "a\n[redacted:private-key]\nb"
    assert "[redacted:private-key]" in redact(f"a\n{begin}\n{body}")
    assert body[:20] not in redact(f"a\n{begin}\n{body}")


@pytest.mark.parametrize("kind", ["CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY", "CERTIFICATE REQUEST"])
def test_public_pem_blocks_are_no_secret(kind: str) -> None:
    assert findings(f"-----BEGIN {kind}-----\n{filled('{{b64:64}}')}\n-----END {kind}-----") == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("电话 138\u200b0013\u200d8000。", "电话 [redacted:phone]。"),
        ("密码：ｈｕｎｔｅｒ２２，完", "密码：[redacted:password]，完"),
        ("卡 4111 1111 1111 1111 完", "卡 [redacted:bank-card] 完"),
        ("𝟏𝟑𝟖𝟎𝟎𝟏𝟑𝟖𝟎𝟎𝟎 ok", "[redacted:phone] ok"),
        ("٠١٣٨ 13800138000", "٠١٣٨ [redacted:phone]"),
        ("ﬁrst 13800138000 ﬁn", "ﬁrst [redacted:phone] ﬁn"),
    ],
)
def test_disguised_writing_is_found_at_its_place_in_the_original_text(text: str, left: str) -> None:
    assert redact(text) == left


def test_a_number_that_is_part_of_a_longer_run_is_no_finding() -> None:
    for whole in ("13800138000", "4111111111111111", "11010519491231002X"):
        assert findings(whole) != []
        for part in (f"9{whole}", f"{whole}9", f"a{whole}", f"{whole}b", f"_{whole}", f"0.{whole}", f"12-{whole}"):
            assert findings(part) == [], part


def test_overlapping_rules_give_one_finding_of_the_more_telling_kind() -> None:
    token = filled("ghp_{{b62:36}}")

    assert [(found.kind, found.start) for found in findings(f"password={token}")] == [("api-key", 9)]


def test_every_text_is_looked_at_and_the_finding_never_holds_what_it_found() -> None:
    found = find_sensitive("db-notes", "the staging database", "password=hunter2", "")

    assert found is not None
    assert (found.kind, found.start, found.end) == ("password", 9, 16)
    assert "hunter2" not in repr(found)
    assert find_sensitive("db-notes", "the staging database") is None


@pytest.mark.parametrize(
    ("label", "value", "sensitive"),
    [
        ("staging-db-password", "Hunter2!2024", True),
        ("wifi-密码", "88664422", True),
        ("service-api-key", "4f9d8c7b6a5e4d3c2b1a", True),
        ("password-policy", "Hunter2!2024 style", False),
        ("reset-password", "lives in src/pages/Reset.tsx", False),
        ("api-token", "counted with o200k_base", False),
    ],
)
def test_a_label_in_one_field_gives_away_the_value_in_the_next(label: str, value: str, sensitive: bool) -> None:
    assert (find_sensitive(label, value) is not None) is sensitive


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("密码：芝麻开门", ["password"]),
        ("登录密码改成了春江花月夜，别告诉别人", ["password"]),
        ("密码：由运维统一管理", []),
        ("密码是用户自己设的", []),
        ("密码：存放在 Vault", []),
        ("芝麻开门", []),
        ("身份证 440301680512113", ["id-number"]),
        ("order 440301680512113", []),
        ("身份证 440301681312113", []),
        ("login: deploy / kQ92mTx7Lp", ["password"]),
        ("login: deploy / viewer", []),
    ],
)
def test_chinese_passwords_old_identity_numbers_and_logins_are_told_from_prose(text: str, kinds: list[str]) -> None:
    assert [found.kind for found in findings(text)] == kinds


def test_a_secret_hidden_in_base64_is_found() -> None:
    hidden = base64.b64encode(filled("token {{hex:4}} ghp_{{b62:36}}").encode()).decode()

    assert [found.kind for found in findings(f"data: {hidden}")] == ["api-key"]


SECRETS = [filled("sk-ant-api03-{{url:60}}"), "13800138000", "password=hunter2", filled("{{cnid:110105:19491231:002}}")]


@given(before=st.text(), after=st.text(), secret=st.sampled_from(SECRETS))
def test_a_secret_on_its_own_line_is_found_between_any_texts(before: str, after: str, secret: str) -> None:
    assert secret not in redact(f"{before}\n{secret}\n{after}")


@given(st.text(st.characters(), max_size=400) | st.text("1380a:=密码password@ -_./'\"\u200b１sk", max_size=400))
def test_findings_of_any_text_are_in_order_apart_and_inside_it(text: str) -> None:
    edges = [edge for found in findings(text) for edge in (found.start, found.end)]

    assert edges == sorted(edges)
    assert all(found.start < found.end <= len(text) for found in findings(text))


REPEATED = [
    *("密码：芝麻开门，", "密码：", "身份证 ", "login a / ", "login a", "/open-apis/bot/v2/hook/"),
    *("a", "1", "1111 ", "13800138000 ", "a@b.c:", "://a:b", "eyJ", "_eyJ.", "password", "token=", "pw=", "密码是 "),
    *(
        "\u200b",
        "-----BEGIN PRIVATE KEY-----",
        "secret_access_key ",
        "cohere api key",
        "１",
        "ghp_",
        "AKIA",
        "(",
        '"',
        " ",
    ),
]


@pytest.mark.parametrize("unit", REPEATED)
def test_no_long_repetition_keeps_the_gate_busy(unit: str) -> None:
    """A rule that takes quadratic time would not come back from these; how long it takes is for the benchmarks."""
    text = unit * (50_000 // len(unit)) + "\n13800138000"

    assert findings(text)[-1].end == len(text)
