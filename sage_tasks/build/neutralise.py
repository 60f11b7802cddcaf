"""Replacing a verb in a caption by a neutral one that keeps the grammar (SAGE, Table 4).

The paper does not print its rule. Ours: every inflected form of the target verb gives way to the
same form of a neutral verb ("do" unless told otherwise), so "a man riding a horse" becomes "a man
doing a horse". Where the word is plainly a noun ("a big wave") it gives way to "thing" or
"something". Everything else stays, so that what a model loses is the verb alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

DEFAULT_NEUTRAL = "do"

# verb -> past, participle; alternatives are separated by "/". Verbs of VerSe and neutral ones.
IRREGULAR = {
    "be": ("was/were", "been"),
    "beat": ("beat", "beaten/beat"),
    "bite": ("bit", "bitten"),
    "blow": ("blew", "blown"),
    "break": ("broke", "broken"),
    "catch": ("caught", "caught"),
    "cut": ("cut", "cut"),
    "do": ("did", "done"),
    "draw": ("drew", "drawn"),
    "drink": ("drank", "drunk"),
    "drive": ("drove", "driven"),
    "eat": ("ate", "eaten"),
    "fall": ("fell", "fallen"),
    "feed": ("fed", "fed"),
    "fly": ("flew", "flown"),
    "get": ("got", "got/gotten"),
    "give": ("gave", "given"),
    "go": ("went", "gone"),
    "grow": ("grew", "grown"),
    "hang": ("hung/hanged", "hung/hanged"),
    "have": ("had", "had"),
    "hit": ("hit", "hit"),
    "hold": ("held", "held"),
    "lay": ("laid", "laid"),
    "lead": ("led", "led"),
    "lean": ("leaned/leant", "leaned/leant"),
    "lie": ("lay", "lain"),
    "light": ("lit/lighted", "lit/lighted"),
    "make": ("made", "made"),
    "put": ("put", "put"),
    "read": ("read", "read"),
    "ride": ("rode", "ridden"),
    "run": ("ran", "run"),
    "saw": ("sawed", "sawn/sawed"),
    "say": ("said", "said"),
    "see": ("saw", "seen"),
    "sell": ("sold", "sold"),
    "set": ("set", "set"),
    "shake": ("shook", "shaken"),
    "shoot": ("shot", "shot"),
    "show": ("showed", "shown/showed"),
    "sing": ("sang", "sung"),
    "sit": ("sat", "sat"),
    "slide": ("slid", "slid"),
    "speak": ("spoke", "spoken"),
    "spread": ("spread", "spread"),
    "stand": ("stood", "stood"),
    "stick": ("stuck", "stuck"),
    "swim": ("swam", "swum"),
    "swing": ("swung", "swung"),
    "take": ("took", "taken"),
    "throw": ("threw", "thrown"),
    "wear": ("wore", "worn"),
    "write": ("wrote", "written"),
}
THIRD_PERSON = {"be": "is", "do": "does", "go": "goes", "have": "has"}

AUXILIARIES = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "am",
        "has",
        "have",
        "had",
        "having",
        "get",
        "gets",
        "got",
        "getting",
    ]
)
DETERMINERS = frozenset(
    [
        "a",
        "an",
        "the",
        "this",
        "that",
        "these",
        "those",
        "his",
        "her",
        "its",
        "their",
        "my",
        "your",
        "our",
        "some",
        "several",
        "many",
        "few",
        "two",
        "three",
        "four",
        "five",
        "six",
        "another",
        "each",
        "every",
    ]
)
PREPOSITIONS = frozenset(
    [
        "of",
        "in",
        "on",
        "with",
        "at",
        "by",
        "for",
        "from",
        "near",
        "behind",
        "under",
        "over",
        "into",
        "onto",
        "through",
        "during",
        "without",
    ]
)
WORD = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True)
class Inflections:
    """Forms of a verb, each a tuple because some verbs have two ("lit", "lighted")."""

    base: str
    third: tuple[str, ...]
    gerund: tuple[str, ...]
    past: tuple[str, ...]
    participle: tuple[str, ...]

    @property
    def all(self) -> frozenset[str]:
        """Every form in lower case."""
        return frozenset((self.base, *self.third, *self.gerund, *self.past, *self.participle))


def inflections(verb: str) -> Inflections:
    """Forms of an English verb: the table above, else the spelling rules.

    Where spelling wavers over doubling ("traveling", "travelling") both are given.
    """
    verb = verb.lower()
    past, participle = IRREGULAR.get(verb, ("", ""))
    regular = _with_ending(verb, "ed")
    return Inflections(
        base=verb,
        third=(THIRD_PERSON.get(verb) or _third_person(verb),),
        gerund=_with_ending(verb, "ing"),
        past=tuple(past.split("/")) if past else regular,
        participle=tuple(participle.split("/")) if participle else regular,
    )


def _third_person(verb: str) -> str:
    if re.search(r"(s|x|z|ch|sh|o)$", verb):
        return verb + "es"
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + "s"


def _with_ending(verb: str, ending: str) -> tuple[str, ...]:
    if verb.endswith("ie"):
        return (verb[:-2] + "ying",) if ending == "ing" else (verb + "d",)
    if verb.endswith("e") and ending == "ed":
        return (verb + "d",)
    if re.search(r"[^eoy]e$", verb) and len(verb) > 2:
        return (verb[:-1] + ending,)
    if ending == "ed" and re.search(r"[^aeiou]y$", verb):
        return (verb[:-1] + "ied",)
    if re.search(r"[^aeiou][aeiou][^aeiouwxy]$", verb):
        plain, doubled = verb + ending, verb + verb[-1] + ending
        one_syllable = len(re.findall(r"[aeiou]+", verb)) == 1
        return (doubled, plain) if one_syllable else (plain, doubled)
    return (verb + ending,)


def holds(caption: str, verb: str) -> bool:
    """Whether a form of ``verb`` stands in the caption as a word of its own."""
    forms = inflections(verb).all
    return any(word.lower() in forms for word in WORD.findall(caption))


def pick_caption(captions: list[str], verb: str) -> str:
    """The first caption that holds the verb, else the first."""
    return next((caption for caption in captions if holds(caption, verb)), captions[0])


def neutralise(caption: str, verb: str, neutral: str = DEFAULT_NEUTRAL) -> str:
    """The caption with every form of ``verb`` replaced; no form of it is left."""
    target = inflections(verb)
    words = list(WORD.finditer(caption))
    pieces: list[str] = []
    end = 0
    for number, word in enumerate(words):
        if word.group().lower() not in target.all:
            continue
        before = [other.group().lower() for other in words[max(0, number - 2) : number]]
        new = _replacement(word.group().lower(), before, target, neutral)
        gap = caption[end : word.start()]
        pieces += [_fit_article(gap, new), _in_case_of(word.group(), new)]
        end = word.end()
    return "".join(pieces) + caption[end:]


def _replacement(word: str, before: list[str], target: Inflections, neutral: str) -> str:
    if word in (target.base, *target.third) and word not in target.participle:
        noun = _as_noun(word == target.base, before)
        if noun:
            return noun
    head, _, tail = neutral.partition(" ")
    forms = inflections(head)
    form = {
        "base": forms.base,
        "third": forms.third[0],
        "gerund": forms.gerund[0],
        "past": forms.past[0],
        "participle": forms.participle[0],
    }[_form(word, before, target)]
    return f"{form} {tail}" if tail else form


def _form(word: str, before: list[str], target: Inflections) -> str:
    """Which form of the verb the word is, by its neighbours where spelling does not tell."""
    if word == target.base:
        # "put", "cut", "run": a participle after an auxiliary ("is cut"), the bare form otherwise
        helped = bool(AUXILIARIES & set(before)) and before[-1] != "to"
        return "participle" if helped and word in target.participle else "base"
    if word in target.gerund:
        return "gerund"
    if word in target.third:
        return "third"
    # Captions are in the present tense, so what may be past or participle is a participle
    # ("a cake covered with icing").
    return "participle" if word in target.participle else "past"


def _as_noun(singular: bool, before: list[str]) -> str | None:
    previous = before[-1] if before else ""
    if previous in PREPOSITIONS:
        return "something" if singular else "things"
    if previous in DETERMINERS:
        return "thing" if singular else "things"
    # "a big wave": a subject with "a" would ask for "waves", so the bare form is a noun.
    if singular and len(before) == 2 and before[0] in ("a", "an"):
        return "thing"
    return None


def _in_case_of(old: str, new: str) -> str:
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[0].upper() + new[1:] if old[0].isupper() else new


def _fit_article(gap: str, new: str) -> str:
    article = "an" if new[0] in "aeiou" else "a"

    def fitted(match: re.Match[str]) -> str:
        written = match.group(1)
        return (article.capitalize() if written[0].isupper() else article) + match.group(2)

    return re.sub(r"\b([Aa]n?)(\s+)$", fitted, gap)
