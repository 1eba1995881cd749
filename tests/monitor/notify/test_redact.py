"""No address and no piece of one is ever shown."""

import re
from urllib.parse import quote, unquote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rltop.models.settings import SettingsError
from rltop.monitor.notify.redact import SHORTEST, Redactor, scheme_of
from rltop.monitor.notify.urls import is_plain, resolved

PIECE = st.text(
    st.characters(codec="utf-8", exclude_characters="/:@?&=#,;…", exclude_categories=("Cs", "Cc", "Z")),
    min_size=SHORTEST,
    max_size=12,
)
SCHEME = st.sampled_from(["slack", "json", "mailtos", "ntfy", "tgram"])


@settings(max_examples=150, deadline=None)
@given(scheme=SCHEME, user=PIECE, password=PIECE, host=PIECE, tokens=st.lists(PIECE, max_size=3), query=PIECE)
@example(scheme="json", user="%41%42ab", password="%2541xx", host="host", tokens=[], query="key1")
def test_no_piece_of_an_address_is_left_in_any_form(
    scheme: str, user: str, password: str, host: str, tokens: list[str], query: str
) -> None:
    url = f"{scheme}://{user}:{password}@{host}/{'/'.join(tokens)}?key={query}"
    redactor = Redactor((url,))
    pieces = (user, password, host, *tokens, query)
    for piece in pieces:
        forms = (piece, quote(piece, safe=""), unquote(piece), piece.upper() if piece.isascii() else piece)
        for form in forms:
            if len(form) >= SHORTEST:
                cleaned = redactor.clean(f"Failed to reach {form}, error=500; {url}x")
                assert form not in cleaned
                assert piece.casefold() not in cleaned.casefold() or not piece.isascii()
    assert scheme_of(url) == f"{scheme}://…"


def test_two_pieces_cannot_join_into_a_third() -> None:
    assert "abcdefgh" not in Redactor(("json://abcdefgh/wxyz",)).clean("abcdwxyzefgh")


def test_what_is_not_of_the_address_stays() -> None:
    text = "answered 500 Internal Server Error"
    assert Redactor(("slack://TokenA/TokenB/TokenC",)).clean(text) == text
    assert Redactor(()).clean(text) == text


@pytest.mark.parametrize(
    ("url", "shown"), [("Slack://a/b", "slack://…"), ("secret", "…"), (" json://x", "json://…")]
)
def test_of_an_address_only_the_scheme_is_shown(url: str, shown: str) -> None:
    assert scheme_of(url) == shown


ENVIRONMENT = {"SLACK_URL": "slack://a/b/c", "RLTOP_PASSWORD": "pass", "AWS_SECRET": "aws", "EMPTY": " "}


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("$SLACK_URL", "slack://a/b/c"),
        ("${SLACK_URL}", "slack://a/b/c"),
        (" $SLACK_URL ", "slack://a/b/c"),
        ("mailto://me:${RLTOP_PASSWORD}@example.org", "mailto://me:pass@example.org"),
        ("json://host/a$b", "json://host/a$b"),
    ],
)
def test_references_to_the_environment_are_put_in(said: str, meant: str) -> None:
    assert resolved([said], ENVIRONMENT) == (meant,)


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("$NOT_THERE", "the environment has no NOT_THERE"),
        ("$EMPTY", "EMPTY"),
        ("json://evil.example/${AWS_SECRET}", "RLTOP_"),
        ("json://host/${RLTOP_NONE}", "RLTOP_NONE"),
    ],
)
def test_a_reference_that_cannot_be_put_in_is_named_without_the_address(said: str, names: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(names)) as caught:
        resolved(["json://first", said], ENVIRONMENT)
    assert "url 2" in str(caught.value)
    assert "evil" not in str(caught.value)


@pytest.mark.parametrize(
    ("said", "plain"),
    [("slack://a/b", True), ("$SLACK_URL", False), ("json://h/${RLTOP_X}", False), ("json://h/$x", True)],
)
def test_an_address_with_its_secret_in_it_is_plain(said: str, plain: bool) -> None:
    assert is_plain(said) is plain
