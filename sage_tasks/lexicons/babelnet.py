"""BabelNet v9 over its HTTP interface, with a key of one's own and a cache on disk.

Its glosses may be used and not passed on: results carry their synset ids and no text
(:mod:`sage_tasks.gar.trace`).
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Callable
from typing import Any

from sage_tasks.lexicons.base import Gloss
from sage_tasks.lexicons.cache import DiskCache, cache_folder, content_key
from sage_tasks.lexicons.web import ServerRefusedError, get_json
from wordsight.errors import WordsightError

KEY = "BABELNET_API_KEY"
URL = "BABELNET_URL"
DEFAULT_URL = "https://babelnet.io/v9"
_POS = {"n": "NOUN", "v": "VERB", "a": "ADJ", "r": "ADV"}
# BabelNet answers a wrong key and a spent allowance with the same words.
_SPENT = "daily requests limit"


class QuotaError(WordsightError):
    """The day's requests are spent; ``resume_at`` says when to go on (UTC)."""

    def __init__(self, message: str, resume_at: datetime.datetime) -> None:
        super().__init__(message)
        self.resume_at = resume_at


class BabelNet:
    """English glosses of a term.

    most : synsets of a term that are fetched; each costs a request, and a new key has 1,000 a day.
    Raises WordsightError when a request is needed and ``BABELNET_API_KEY`` is not set.
    """

    name = "babelnet"

    def __init__(
        self,
        key: str | None = None,
        url: str | None = None,
        cache: DiskCache | None = None,
        most: int = 20,
        now: Callable[[], datetime.datetime] | None = None,
    ) -> None:
        import httpx

        self._key = key or os.environ.get(KEY, "")
        self._url = (url or os.environ.get(URL) or DEFAULT_URL).rstrip("/")
        self._cache = cache or DiskCache(cache_folder() / "babelnet.sqlite")
        self._most = most
        self._now = now or (lambda: datetime.datetime.now(datetime.timezone.utc))
        self._client = httpx.Client(timeout=60.0, headers={"Accept-Encoding": "gzip"})
        self._answered = False

    def synset_ids(self, term: str, pos: str = "") -> list[str]:
        """Ids of all synsets of a term: its ambiguity, for one request."""
        params = {"lemma": term, "searchLang": "EN"}
        if pos:
            params["pos"] = _POS[pos]
        rows = self._get("getSynsetIds", params)
        try:
            return list(dict.fromkeys(str(row["id"]) for row in rows))
        except (TypeError, LookupError):
            raise WordsightError(
                f"{self._url}/getSynsetIds: not a list of synset ids: {str(rows)[:200]}"
            ) from None

    def lookup(self, term: str, pos: str = "") -> list[Gloss]:
        """One gloss per synset, WordNet's where there is one. Raises QuotaError when the
        allowance is spent; what was fetched before is kept and not asked for again."""
        glosses = []
        for synset_id in self.synset_ids(term, pos)[: self._most]:
            synset = self._get("getSynset", {"id": synset_id, "targetLang": "EN"})
            text = _english_gloss(synset)
            if text:
                glosses.append(Gloss("babelnet", synset_id, text))
        return glosses

    def local_gloss(self, synset_id: str) -> str | None:
        """The gloss of a synset if this machine has fetched it before; no request is made."""
        kept = self._cache.get(self._cache_key("getSynset", {"id": synset_id, "targetLang": "EN"}))
        return None if kept is None else _english_gloss(json.loads(kept)) or None

    def _cache_key(self, call: str, params: dict[str, str]) -> str:
        return content_key("babelnet", "v9", call, params)

    def _get(self, call: str, params: dict[str, str]) -> Any:
        cached = self._cache.get(self._cache_key(call, params))
        if cached is not None:
            return json.loads(cached)
        if not self._key:
            raise WordsightError(
                f"BabelNet needs a key of your own: register at https://babelnet.org and set {KEY}"
            )
        try:
            value = get_json(self._client, f"{self._url}/{call}", {**params, "key": self._key})
        except ServerRefusedError as error:
            if error.status == 429 or _SPENT in error.text:
                raise self._quota_error(error.retry_after) from None
            raise
        if isinstance(value, dict) and "message" in value:
            if _SPENT in str(value["message"]):
                raise self._quota_error(None)
            raise WordsightError(f"{self._url}/{call}: {str(value['message'])[:300]}")
        self._answered = True
        self._cache.put(self._cache_key(call, params), json.dumps(value))
        return value

    def _quota_error(self, retry_after: float | None) -> QuotaError:
        now = self._now()
        if retry_after is not None:
            resume = now + datetime.timedelta(seconds=retry_after)
        else:
            # Allowances are renewed at midnight; the hour more allows for the server's time zone.
            tomorrow = (now + datetime.timedelta(days=1)).date()
            midnight = datetime.time(1, 0, tzinfo=datetime.timezone.utc)
            resume = datetime.datetime.combine(tomorrow, midnight)
        doubt = "" if self._answered else f" (or the key in {KEY} is wrong)"
        return QuotaError(
            f"BabelNet: the day's requests are spent{doubt}; go on after "
            f"{resume:%Y-%m-%d %H:%M} UTC with the same command and --resume: what was fetched is "
            "kept",
            resume,
        )


def _english_gloss(synset: Any) -> str:
    glosses = synset.get("glosses", []) if isinstance(synset, dict) else []
    texts = [
        (str(gloss.get("source", "")), " ".join(str(gloss.get("gloss", "")).split()))
        for gloss in glosses
        if isinstance(gloss, dict) and gloss.get("language", "EN") == "EN"
    ]
    texts.sort(key=lambda pair: not pair[0].startswith("WN"))
    return next((text for _, text in texts if text), "")
