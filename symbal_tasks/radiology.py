"""What a sentence of a radiology report states as present: entities, diseases, devices."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from wordsight.errors import DataError

DISEASES: Mapping[str, str] = {
    "cardiomegaly": r"cardiomegaly"
    r"|(?:enlarged|enlargement of (?:the )?) ?(?:heart|cardiac silhouette)"
    r"|(?:heart|cardiac silhouette)[\w ]{0,20} enlarged",
    "pneumothorax": r"pneumothora(?:x|ces)|hydropneumothorax",
    "atelectasis": r"atelecta(?:sis|ses|tic)",
    "pleural effusion": r"(?:pleural )?effusions?",
    "edema": r"o?edema",
}
DEVICES: Mapping[str, str] = {
    "pacemaker": r"pacemakers?|pacer|icd|aicd|pacing (?:device|leads?)|cardiac device",
    "chest tube": r"chest tubes?|pigtail catheters?|thoracostomy tubes?|pleural (?:catheter|drain)",
    "endotracheal tube": r"endotracheal tubes?|et tubes?|ett",
    "surgical clips": r"(?:surgical )?clips",
    "sternotomy wires": r"sternotomy(?: wires)?|sternal wires",
}

_OTHER = (
    r"opacit\w+|opacification|consolidation\w*|pneumonia|congestion|nodules?|mass(?:es)?|"
    r"fractures?|infiltrates?|hernia|emphysema|fibrosis|scarring|thickening|lungs?|hearts?|cardiac|"
    r"cardiomediastinal|mediastin\w+|hil(?:ar|um|a)|pleura|bones?|osseous|spine|ribs?|"
    r"(?:hemi)?diaphragms?|vascul\w+|aort\w+|lob(?:e|es|ar)|apex|apical|bas(?:e|es|ilar|al)"
)
# A cue reaches to the end of its clause.
_DENIED = re.compile(
    r"\b(?:no|not|without|negative for|free of|absence of|removal of|rule out|r/o|never)\b[^,;.]*",
    re.IGNORECASE,
)
_REMOVED = re.compile(
    r"[^,;.]*\b(?:has|have|had|been|was|were|interval)\b[^,;.]*\b(?:removed|removal|resolved)\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:possibl[ey]|may|might|cannot|could|question\w*|suspect\w*|suggest\w*|concern\w*|"
    r"presum\w*|potential\w*|versus|vs\.?|if)\b[^,;.]*",
    re.IGNORECASE,
)


class Entities(Protocol):
    """Source of "which entities does this sentence state as present"."""

    def any_present(self, sentence: str) -> bool:
        """Whether a disease or an anatomy is stated as present."""
        ...

    def states(self, sentence: str, disease: str) -> bool:
        """Whether one of :data:`DISEASES` is stated as present."""
        ...


@dataclass(frozen=True)
class TextRules:
    """Word lists and clause-wide negation: a rough stand-in where RadGraph-XL was not run."""

    def any_present(self, sentence: str) -> bool:
        """Whether a listed word stands outside denied and unsure clauses."""
        # devices count as observations, as they do for RadGraph: R has to keep naming v
        words = "|".join([*DISEASES.values(), *DEVICES.values(), _OTHER])
        return bool(
            re.search(rf"\b(?:{words})\b", _UNSURE.sub(" ", _standing(sentence)), re.IGNORECASE)
        )

    def states(self, sentence: str, disease: str) -> bool:
        """Whether the disease is named outside denied and unsure clauses."""
        pattern = rf"\b(?:{DISEASES[disease]})\b"
        return bool(re.search(pattern, _UNSURE.sub(" ", _standing(sentence)), re.IGNORECASE))


@dataclass(frozen=True)
class RadGraph:
    """Entities as RadGraph-XL wrote them; sentences are matched by their letters and digits.

    ``present`` maps a sentence's key to the present entities' words, each with its kind.
    """

    present: Mapping[str, tuple[tuple[str, str], ...]]

    def any_present(self, sentence: str) -> bool:
        """Whether an anatomy or observation is "definitely present". DataError if not run on it."""
        return bool(self._of(sentence))

    def states(self, sentence: str, disease: str) -> bool:
        """Whether an observation that is definitely present belongs to the disease's wording."""
        stated = [words for words, kind in self._of(sentence) if kind == "observation"]
        mention = re.search(rf"\b(?:{DISEASES[disease]})\b", sentence, re.IGNORECASE)
        return mention is not None and any(w in mention.group(0).lower() for w in stated)

    def _of(self, sentence: str) -> tuple[tuple[str, str], ...]:
        try:
            return self.present[sentence_key(sentence)]
        except KeyError:
            raise DataError(
                f"RadGraph output lacks the sentence {sentence!r}: run it on every line of the "
                "file that --write-sentences makes"
            ) from None


def read_radgraph(path: Path) -> RadGraph:
    """Read RadGraph-XL output: ``{"0": {"text": ..., "entities": {"1": {"tokens", "label"}}}}``.

    Labels of both releases are known ("Observation::definitely present", "OBS-DP"). Raises
    DataError when the file has another form.
    """
    try:
        payload = json.loads(path.read_text(encoding="utf-8"))
        entries = [entry for key, entry in payload.items() if str(key).isdigit()]
        present = {
            sentence_key(entry["text"]): tuple(
                (str(e["tokens"]).lower(), kind)
                for e in entry["entities"].values()
                if (kind := _present_kind(str(e["label"])))
            )
            for entry in entries
        }
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise DataError(f"{path}: not RadGraph output ({error!r})") from None
    return RadGraph(present)


def mentions_device(report: str, device: str) -> bool:
    """Text matcher for devices: named in a clause that does not say it is absent or removed."""
    return bool(re.search(rf"\b(?:{DEVICES[device]})\b", _standing(report), re.IGNORECASE))


def sentence_key(sentence: str) -> str:
    """Letters and digits only: RadGraph puts spaces around punctuation."""
    return re.sub(r"\W+", "", sentence).lower()


def _standing(text: str) -> str:
    # "has been removed" looks backwards, so it goes before the cues that look ahead
    return _DENIED.sub(" ", _REMOVED.sub(" ", text))


def _present_kind(label: str) -> str:
    lowered = label.lower()
    if "definitely present" not in lowered and not lowered.endswith("-dp"):
        return ""
    return "anatomy" if lowered.startswith("anat") else "observation"
