"""Short texts kept with the data they name, in every language of the product."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Language(StrEnum):
    """The languages that names are kept in."""

    ZH_HANS = "zh-Hans"
    ZH_HANT = "zh-Hant"
    EN = "en"


Names = Mapping[Language, str]
"""One text in every language."""


def names(zh_hans: str, zh_hant: str, en: str) -> Names:
    """One text in the three languages."""
    return MappingProxyType({Language.ZH_HANS: zh_hans, Language.ZH_HANT: zh_hant, Language.EN: en})
