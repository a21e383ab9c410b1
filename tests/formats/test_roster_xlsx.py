"""Rosters as spreadsheets: values only, the first sheet that names the entrants, and no harm from a stranger's zip."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from collections.abc import Sequence
from datetime import date, datetime
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook

from qisai.errors import Invalid, QisaiError, TooLarge
from qisai.formats import roster, roster_xlsx_parts
from qisai.formats.roster import MAX_BYTES, read_roster
from qisai.formats.sheet_xlsx import xlsx_bytes


def workbook(*rows: Sequence[Any], title: str = "报名表", before: Sequence[Sequence[Any]] = ()) -> bytes:
    """A workbook; `before`: rows of a sheet in front of the one that counts."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    if before:
        for row in before:
            sheet.append(list(row))
        sheet = book.create_sheet(title)
    for row in rows:
        sheet.append(list(row))
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def merged(*rows: Sequence[Any], ranges: str) -> bytes:
    """A workbook with cells merged as people merge them."""
    book = load_workbook(io.BytesIO(workbook(*rows)))
    for cells in ranges.split():
        book.active.merge_cells(cells)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def repacked(
    content: bytes, change: dict[str, Any], *, names: dict[str, str] | None = None, more: dict[str, bytes] | None = None
) -> bytes:
    """The same zip with parts changed by functions of their text, with other names, and more of them."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            text = old.read(part)
            text = change[part.filename](text) if part.filename in change else text
            new.writestr((names or {}).get(part.filename, part.filename), text)
        for name, text in (more or {}).items():
            new.writestr(name, text)
    return made.getvalue()


BORN = datetime(2012, 5, 3)  # noqa: DTZ001 - as spreadsheets keep days
SHEET = "xl/worksheets/sheet1.xml"


def test_values_are_read_as_they_are_typed_whatever_kind_they_have() -> None:
    found = read_roster(
        workbook(
            ["2026 年春季赛报名表"],
            [],
            ["编号", "姓名", "单位", "等级分", "性别", "出生日期", "电话", "邮箱", "备注", "等级分日期"],
            [1, "陈一", "甲队", 1800, "女", BORN, 13800000000, "a@b.cn", "吃素", date(2026, 10, 1)],
            ["A-2", " 林二 ", None, 1750.0, "男", 1990, "+86 10-1234567", None, None, None],
            [],
            [3, "𠮷野😀", "乙队", None, None, "2001/7/8"],
        )
    )
    assert (found.encoding, found.delimiter, found.ignored) == ("xlsx", "", ())
    one, two, three = found.rows
    assert [row.problems for row in found.rows] == [(), (), ()]
    assert (one.external_id, one.seed, one.sex, one.birth_year) == ("1", 1800, "female", 2012)
    assert (one.phone, one.email, one.notes, one.seed_date) == ("13800000000", "a@b.cn", "吃素", date(2026, 10, 1))
    assert (two.external_id, two.name, two.seed, two.birth_year) == ("A-2", "林二", 1750, 1990)
    assert (three.row, three.name, three.birth_year, three.seed) == (7, "𠮷野😀", 2001, None)


def test_the_first_sheet_that_names_the_entrants_counts() -> None:
    found = read_roster(workbook(["姓名"], ["陈一"], before=[["说明"], ["请填第二页"]]))
    assert [row.name for row in found.rows] == ["陈一"]


TWO_ROWS = (
    ["某某杯报名表"],
    ["序号", "姓名", "单位", "等级", None, "联系"],
    [None, None, None, "分", "日期", "电话", "邮箱"],
    [1, "陈一", "甲队", 1800, "2026-01-02", "13800000000", "a@b.cn"],
)


def test_a_merged_header_in_two_rows_is_understood() -> None:
    found = read_roster(merged(*TWO_ROWS, ranges="A1:G1 A2:A3 B2:B3 C2:C3 D2:E2 F2:G2"))
    (row,) = found.rows
    assert (row.row, row.external_id, row.name, row.club, row.seed) == (4, "1", "陈一", "甲队", 1800)
    assert (row.seed_date, row.phone, row.email, row.problems) == (date(2026, 1, 2), "13800000000", "a@b.cn", ())
    assert found.ignored == ()


def test_a_merged_header_ends_where_its_names_end() -> None:
    rows = (["姓名", "单位", "照片"], [None, None, "正面", "反面"], ["陈一", "甲队", "a", "b"])
    found = read_roster(merged(*rows, ranges="A1:A2 B1:B2 C1:D1"))
    assert [(row.row, row.name, row.club, row.problems) for row in found.rows] == [(3, "陈一", "甲队", ())]
    assert found.ignored == ("正面", "反面")


def test_one_cell_for_the_club_of_several_counts_for_each_of_them() -> None:
    rows = (["序号", "姓名", "单位"], [1, "陈一", "甲队"], [2, "林二"], [3, "王三", "乙队"], ["说明：自带棋钟"], [None])
    found = read_roster(merged(*rows, ranges="C2:C3 A5:C6"))
    assert [(row.name, row.club) for row in found.rows] == [
        ("陈一", "甲队"),
        ("林二", "甲队"),
        ("王三", "乙队"),
        ("", ""),
    ]
    assert [[problem.slug for problem in row.problems] for row in found.rows] == [[], [], [], ["missing"]]


def test_one_name_over_several_rows_is_refused_in_words_of_its_own() -> None:
    found = read_roster(merged(["姓名", "电话"], ["陈一", "13800000000"], [None, "13900000000"], ranges="A2:A3"))
    first, second = found.rows
    assert first.problems == ()
    assert [(problem.row, problem.column, problem.slug) for problem in second.problems] == [(3, "姓名", "merged")]


def test_a_cell_beside_the_table_is_refused_with_advice_for_a_workbook() -> None:
    (row,) = read_roster(workbook(["姓名", "单位"], ["陈一", "甲队", "x"])).rows
    (problem,) = row.problems
    assert (problem.slug, problem.context["variant"]) == ("too-many-cells", "workbook")
    assert "quotation" not in problem.detail


def test_very_many_merged_cells_cost_little() -> None:
    many = b"".join(b'<mergeCell ref="A%d:CV1048576"/>' % row for row in range(1, 60_000))
    content = repacked(workbook(["姓名"], ["陈一"], ["林二"]), {SHEET: before(b"</worksheet>", many)})
    started = process_time()
    first, second = read_roster(content).rows
    assert (first.name, second.name) == ("陈一", "林二")
    assert process_time() - started < 6


@pytest.mark.parametrize(
    ("column", "typed", "slug"),
    [
        ("性别", "不详", "sex"),
        ("出生年", "1899", "birth-year"),
        ("出生年", "2999", "birth-year"),
        ("出生年", "九零年", "birth-year"),
        ("电话", "没有", "phone"),
        ("邮箱", "a@b", "email"),
        ("等级分", True, "seed"),
        ("等级分日期", "2026-02-30", "day"),
        ("备注", "长" * 1001, "too-long"),
    ],
)
def test_a_cell_that_makes_no_sense_is_refused_at_its_place(column: str, typed: Any, slug: str) -> None:
    (row,) = read_roster(workbook(["姓名", column], ["陈一", typed])).rows
    assert [(problem.row, problem.column, problem.slug) for problem in row.problems] == [(2, column, slug)]


def test_a_formula_counts_by_its_value_and_one_without_a_value_is_refused() -> None:
    content = workbook(["姓名", "等级分"], ["陈一", "=900+900"], ["=A2", 1500])
    first, second = read_roster(content).rows
    assert [problem.slug for problem in first.problems] == ["formula"]
    assert [problem.slug for problem in second.problems] == ["formula"]
    valued = repacked(content, {SHEET: lambda text: text.replace(b"<f>900+900</f><v />", b"<f>900+900</f><v>1800</v>")})
    assert read_roster(valued).rows[0].seed == 1800


def test_what_is_no_spreadsheet_is_refused_in_words() -> None:
    good = workbook(["姓名"], ["陈一"])
    for content in (
        b"PK\x03\x04",
        good[: len(good) // 2],
        good.replace(b"xl/workbook", b"xl/werkbook"),
        repacked(good, {SHEET: lambda text: text[:-20]}),
        repacked(good, {"xl/workbook.xml": lambda _text: b"<a/>"}),
    ):
        with pytest.raises(Invalid):
            read_roster(content)


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packed_bytes_that_are_none_are_refused_in_words(packing: int) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packing) as archive:
        archive.writestr(SHEET, bytes(range(256)) * 100)
    content, start = bytearray(made.getvalue()), 30 + len(SHEET) + 9  # behind the properties that LZMA begins with
    content[start : start + 40] = b"\xff" * 40
    with pytest.raises(Invalid) as refused:
        read_roster(bytes(content))
    assert refused.value.slug == "roster-unreadable"


def test_a_sheet_without_a_header_says_what_is_missing() -> None:
    with pytest.raises(Invalid) as refused:
        read_roster(workbook(["陈一", 1800]))
    assert refused.value.slug == "roster-no-header"


def test_entities_are_never_expanded() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    content = repacked(workbook(["姓名"], ["陈一"]), {SHEET: lambda text: bomb + text})
    with pytest.raises(Invalid) as refused:
        read_roster(content)
    assert refused.value.slug == "roster-unreadable"


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(SHEET, "w") as part:
        for _ in range(100):
            part.write(b" " * (1 << 20))
    content = made.getvalue()
    assert len(content) < MAX_BYTES
    tracemalloc.start()
    with pytest.raises(TooLarge):
        read_roster(content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20


def test_a_zip_of_very_many_parts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roster_xlsx_parts, "MAX_PARTS", 3)
    with pytest.raises(TooLarge):
        read_roster(workbook(["姓名"], ["陈一"]))


STYLES = "xl/styles.xml"
BOOK = "xl/workbook.xml"
HEADED = b'<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c></row>'


def in_sheet(inside: bytes, *, after: bytes = b"") -> dict[str, Any]:
    """A sheet with a header, this below it and this behind all rows."""
    start = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    return {SHEET: lambda _text: start + HEADED + inside + b"</sheetData>" + after + b"</worksheet>"}


def before(mark: bytes, more: bytes) -> Any:
    return lambda text: text.replace(mark, more + mark, 1)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(in_sheet(b'<row r="2">' + b'<c r="A2"/>' * 400_000 + b"</row>"), id="cells"),
        pytest.param(in_sheet(b"<a>" * 30_000 + b"</a>" * 30_000), id="nested"),
        pytest.param(in_sheet(b"<a/>" * 100_000), id="elements"),
        pytest.param(in_sheet(b"<!--" + b"x" * 400_000 + b"-->"), id="comment"),
        pytest.param(
            in_sheet(b"", after=b'<scenarios sqref="' + b"A1 " * 90_000 + b'"/>'),
            id="ranges",
        ),
        pytest.param({STYLES: before(b"</cellXfs>", b'<xf numFmtId="0" fontId="0"/>' * 100_000)}, id="styles"),
        pytest.param(
            in_sheet(
                b'<row r="2"><c r="A2"><f t="shared" si="0" ref="A2:A9">' + b"A1+" * 2700 + b"A1<f/></f></c></row>"
                + b'<row r="3"><c r="A3"><f t="shared" si="0"/></c></row>' * 1000
            ),
            id="formulas",
        ),
    ],
)  # fmt: skip
def test_a_small_file_of_very_many_elements_is_refused_at_once(change: dict[str, Any]) -> None:
    content = repacked(workbook(["姓名"], ["陈一"]), change)
    assert len(content) < 200_000
    started = process_time()
    with pytest.raises(TooLarge) as refused:
        read_roster(content)
    assert refused.value.slug == "roster-unpacks"
    assert process_time() - started < 6


def test_a_part_is_looked_at_whatever_its_name() -> None:
    change = {
        "xl/_rels/workbook.xml.rels": lambda text: text.replace(b"sheet1.xml", b"sheet1.bin"),
        SHEET: lambda text: text.replace(b"</sheetData>", b"<a/>" * 100_000 + b"</sheetData>"),
    }
    content = repacked(workbook(["姓名"], ["陈一"]), change, names={SHEET: SHEET.replace(".xml", ".bin")})
    with pytest.raises(TooLarge):
        read_roster(content)


def test_a_declaration_is_refused_in_any_encoding() -> None:
    def declared(text: bytes) -> bytes:
        return ('<?xml version="1.0" encoding="utf-16"?><!DOCTYPE x [<!ENTITY a "a">]>' + text.decode()).encode(
            "utf-16"
        )

    with pytest.raises(Invalid) as refused:
        read_roster(repacked(workbook(["姓名"], ["陈一"]), {SHEET: declared}))
    assert refused.value.slug == "roster-unreadable"


def test_one_part_as_many_sheets_is_refused() -> None:
    office = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    again = b'<sheet name="x" sheetId="9" state="visible" xmlns:r="' + office + b'" r:id="rId1"/>'
    with pytest.raises(Invalid) as refused:
        read_roster(repacked(workbook(["姓名"], ["陈一"]), {BOOK: before(b"</sheets>", again)}))
    assert refused.value.slug == "roster-unreadable"


def test_one_long_text_in_very_many_cells_is_refused() -> None:
    rows = b"".join(b'<row r="%d"><c r="A%d" t="s"><v>0</v></c></row>' % (row, row) for row in range(2, 200))
    strings = b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>' + b"x" * 99_999
    manifest = (
        b'<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument'
        b'.spreadsheetml.sharedStrings+xml"/>'
    )
    change = {**in_sheet(rows), "[Content_Types].xml": before(b"</Types>", manifest)}
    content = repacked(workbook([1]), change, more={"xl/sharedStrings.xml": strings + b"</t></si></sst>"})
    with pytest.raises(TooLarge):
        read_roster(content)


def test_a_roster_of_twenty_thousand_rows_is_within_what_is_taken() -> None:
    head = ["编号", "姓名", "单位", "等级分", "性别", "出生日期", "电话", "邮箱", "备注"]
    rows = [[n, f"棋手{n}", f"队{n % 90}", 1500, "男", "2001-02-03", str(13800000000 + n), f"a{n}@b.cn", f"注{n}"]
            for n in range(20_000)]  # fmt: skip
    roster_xlsx_parts.inspect(xlsx_bytes("选手", head, rows))


def test_rows_far_below_and_columns_far_right_cost_nothing() -> None:
    far_off = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'

    def far(text: bytes) -> bytes:
        return text.replace(b"</sheetData>", far_off)

    def without_size(text: bytes) -> bytes:
        return far(text.replace(b'<dimension ref="A1:A2" />', b""))

    good = workbook(["姓名"], ["陈一"])
    assert [row.name for row in read_roster(repacked(good, {SHEET: far})).rows] == ["陈一"]
    with pytest.raises(TooLarge):
        read_roster(repacked(good, {SHEET: without_size}))


def test_one_row_more_than_is_taken_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roster, "MAX_ROWS", 50)
    rows = [["姓名"], *([f"棋手{number}"] for number in range(50))]
    assert len(read_roster(workbook(*rows)).rows) == 50
    with pytest.raises(TooLarge):
        read_roster(workbook(*rows, ["多余"]))


def test_what_is_exported_is_text_and_comes_back_as_it_was() -> None:
    names = ["=1+1", "+86", "-陈", "@SUM(A1)", "陈一", "＝全角", "𠮷野"]
    content = xlsx_bytes("选手", ["姓名", "等级分"], [[name, 1800] for name in names], widths=[20, 8])
    sheet = load_workbook(io.BytesIO(content)).active
    assert sheet is not None
    cells = [row[0] for row in sheet.iter_rows(min_row=2)]
    assert {cell.data_type for cell in cells} == {"s"}
    assert not [cell for cell in cells if str(cell.value)[0] in "=+-@＝"]
    assert [row.name for row in read_roster(content).rows] == names


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_bytes_crash_the_reader_or_hang_it(data: st.DataObject) -> None:
    content = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    try:
        found = read_roster(bytes(content))
    except QisaiError:
        return
    assert all(row.problems or row.name for row in found.rows)


GOOD = workbook(["编号", "姓名", "等级分"], [1, "陈一", 1800], [2, "林二", "=1+1"])
