"""A module that is put off loads when it is used, and not before."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from wordsight.run.lazy import put_off


def test_module_loads_at_first_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_package.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w').close()\nanswer = 42\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    put_off("slow_package")
    assert importlib.util.find_spec("slow_package") is not None
    import slow_package  # type: ignore[import-not-found]

    assert not (tmp_path / "ran").exists()
    assert slow_package.answer == 42
    assert (tmp_path / "ran").exists()
    del sys.modules["slow_package"]


def test_what_is_loaded_or_missing_is_left_alone() -> None:
    before = sys.modules["json"]
    put_off("json")
    put_off("no_such_package_anywhere")
    assert sys.modules["json"] is before
    assert "no_such_package_anywhere" not in sys.modules
