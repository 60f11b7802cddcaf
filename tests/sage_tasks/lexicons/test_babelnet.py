"""BabelNet's client against a server of the same shape on loopback."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from sage_tasks.lexicons.babelnet import BabelNet, QuotaError
from sage_tasks.lexicons.base import Gloss
from sage_tasks.lexicons.cache import DiskCache
from tests.sage_tasks.lexicons import servers
from wordsight.errors import WordsightError

NOON = datetime.datetime(2026, 3, 4, 12, 0, tzinfo=datetime.timezone.utc)


def client(url: str, folder: Path, key: str = "good-key", most: int = 20) -> BabelNet:
    return BabelNet(key, url, DiskCache(folder / "b.sqlite"), most, lambda: NOON)


def test_one_english_gloss_per_synset_wordnets_first(tmp_path: Path) -> None:
    with servers.serve(servers.BabelNetService()) as server:
        glosses = client(server.url, tmp_path).lookup("bank")
    assert glosses == [
        Gloss("babelnet", "bn:00000011n", "A lender."),
        Gloss("babelnet", "bn:00000012n", "Edge of a river."),
    ]
    call, params, headers = server.requests[0]
    assert call == "getSynsetIds"
    assert params == {"lemma": "bank", "searchLang": "EN", "key": "good-key"}
    assert headers["accept-encoding"] == "gzip"


def test_part_of_speech_and_limit_are_passed_on(tmp_path: Path) -> None:
    with servers.serve(servers.BabelNetService()) as server:
        found = client(server.url, tmp_path, most=1).lookup("bank", "n")
        assert [gloss.key for gloss in found] == ["bn:00000011n"]
        assert len(client(server.url, tmp_path).synset_ids("bank")) == 3
    assert server.requests[0][1]["pos"] == "NOUN"


def test_second_lookup_comes_from_the_disk(tmp_path: Path) -> None:
    with servers.serve(servers.BabelNetService()) as server:
        first = client(server.url, tmp_path).lookup("bank")
        asked = len(server.requests)
        # another process, and no key needed for what is there
        assert client(server.url, tmp_path, key="").lookup("bank") == first
    assert len(server.requests) == asked == 4
    assert client("http://127.0.0.1:9", tmp_path).local_gloss("bn:00000011n") == "A lender."
    assert client("http://127.0.0.1:9", tmp_path).local_gloss("bn:99999999n") is None


def test_spent_allowance_says_when_to_go_on_and_keeps_what_came(tmp_path: Path) -> None:
    with servers.serve(servers.BabelNetService(allowance=2)) as server:
        with pytest.raises(QuotaError, match="2026-03-05 01:00 UTC") as caught:
            client(server.url, tmp_path).lookup("bank")
        assert caught.value.resume_at == NOON + datetime.timedelta(hours=13)
        assert "is wrong" not in str(caught.value)
        asked = len(server.requests)
    with servers.serve(servers.BabelNetService()) as server:
        assert len(client(server.url, tmp_path).lookup("bank")) == 2
    assert asked == 3
    assert len(server.requests) == 2  # of four, two were kept


def test_refusal_of_the_first_request_doubts_the_key_and_hides_it(tmp_path: Path) -> None:
    with (
        servers.serve(servers.BabelNetService()) as server,
        pytest.raises(QuotaError, match="BABELNET_API_KEY is wrong") as caught,
    ):
        client(server.url, tmp_path, key="secret-key").lookup("bank")
    assert "secret-key" not in str(caught.value)


def test_retry_after_of_the_server_counts(tmp_path: Path) -> None:
    def busy(call: str, params: dict[str, str]) -> servers.Reply:
        return servers.Reply(429, {"message": "slow down"}, {"Retry-After": "7200"})

    with servers.serve(busy) as server, pytest.raises(QuotaError, match="2026-03-04 14:00"):
        client(server.url, tmp_path).lookup("bank")


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (400, {"message": "bad lemma"}, "status 400.*bad lemma"),
        (200, {"message": "synset not found"}, "synset not found"),
        (200, {"unexpected": 1}, "not a list of synset ids"),
        (200, [{"pos": "NOUN"}], "not a list of synset ids"),
    ],
)
def test_other_answers_are_errors_and_are_not_kept(
    tmp_path: Path, status: int, body: object, message: str
) -> None:
    def answer(call: str, params: dict[str, str]) -> servers.Reply:
        return servers.Reply(status, body)

    with servers.serve(answer) as server, pytest.raises(WordsightError, match=message) as caught:
        client(server.url, tmp_path).lookup("bank")
    assert "good-key" not in str(caught.value)


def test_server_errors_are_tried_again(tmp_path: Path) -> None:
    service = servers.BabelNetService()
    failures = iter([503])

    def flaky(call: str, params: dict[str, str]) -> servers.Reply:
        status = next(failures, None)
        return servers.Reply(status, "down") if status else service(call, params)

    with servers.serve(flaky) as server:
        assert len(client(server.url, tmp_path).lookup("bank")) == 2


def test_without_a_key_the_error_names_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BABELNET_API_KEY", raising=False)
    with pytest.raises(WordsightError, match="set BABELNET_API_KEY"):
        client("http://127.0.0.1:9", tmp_path, key="").lookup("bank")
