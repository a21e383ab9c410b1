"""The key that entrants' names are sorted and found by: toneless Pinyin, kept in `entrant.sort_key`.

The database sorts by code point (张 before 李 before 阿), so names are never sorted by themselves.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pypinyin import lazy_pinyin

_SURNAMES: Final = {
    "单": "shan", "單": "shan", "曾": "zeng", "查": "zha", "仇": "qiu", "解": "xie", "任": "ren", "覃": "qin",
    "翟": "zhai", "缪": "miao", "繆": "miao", "朴": "piao", "区": "ou", "區": "ou", "乐": "yue", "樂": "yue",
    "冼": "xian", "盖": "ge", "蓋": "ge", "召": "shao", "宓": "mi", "员": "yun", "員": "yun", "黑": "he",
    "折": "she", "纪": "ji", "華": "hua", "华": "hua", "尹": "yin", "晁": "chao", "逄": "pang", "秘": "bi",
}  # fmt: skip
"""Characters that are read otherwise as a surname, which stands first."""
_LONGEST: Final = 400
_HAN: Final = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_RUNS: Final = re.compile(f"{_HAN.pattern}+|[^{_HAN.pattern[1:-1]}]+")


@lru_cache(maxsize=20_000)  # pages sort the same names at each look
def sort_key(name: str) -> str:
    """`陈一` → `chen yi`: lower case, one space between syllables and words; other scripts as they are."""
    parts = [_SURNAMES[name[0]]] if name[:1] in _SURNAMES else []
    for run in _RUNS.findall(name[len(parts) :]):
        parts += lazy_pinyin(run) if _HAN.match(run) else [run]
    return " ".join(" ".join(parts).lower().split())[:_LONGEST]


def name_order(name: str) -> tuple[str, str]:
    """What names are listed by: their sound, then their characters, so that 张伟 and 章伟 do not come mixed."""
    return sort_key(name), name
