"""Rosters as clubs send them."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qisai.errors import Invalid, QisaiError, TooLarge
from qisai.formats.roster import MAX_BYTES, MAX_ROWS, Roster, read_roster
from qisai.formats.roster_columns import Column, columns_of
from qisai.formats.typed_text import is_visible, name_key, tidy, tidy_name

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"


def read(text: str, encoding: str = "utf-8") -> Roster:
    return read_roster(text.encode(encoding))


def names(roster: Roster) -> list[str]:
    return [row.name for row in roster.rows]


@pytest.mark.parametrize(
    ("encoding", "found"), [("utf-8", "utf-8"), ("utf-8-sig", "utf-8-sig"), ("gbk", "gb18030"), ("gb18030", "gb18030")]
)
def test_every_encoding_of_a_spreadsheet_is_recognised(encoding: str, found: str) -> None:
    roster = read("编号,姓名,单位,等级分\r\n7,陈一,甲队,1840\r\n", encoding)
    (row,) = roster.rows
    assert roster.encoding == found
    assert (row.row, row.external_id, row.name, row.club, row.seed, row.problems) == (2, "7", "陈一", "甲队", 1840, ())


def test_a_gbk_roster_of_284_names_is_intact() -> None:
    path = DATA / "roster284-gbk.csv"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    roster = read_roster(path.read_bytes())
    assert len(roster.rows) == 284
    assert [row.problems for row in roster.rows] == [()] * 284
    again = read_roster(path.read_bytes().decode("gb18030").encode("utf-8-sig"))
    assert again.rows == roster.rows


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_every_delimiter_is_recognised_also_where_others_stand_in_cells(delimiter: str) -> None:
    cells = [["姓名", "单位"], ["陈一", '"甲队, 乙组; 一"'], ["林二", "丙"]]
    roster = read("\n".join(delimiter.join(row) for row in cells))
    assert roster.delimiter == delimiter
    assert [(row.name, row.club) for row in roster.rows] == [("陈一", "甲队, 乙组; 一"), ("林二", "丙")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_refused_with_advice(encoding: str) -> None:
    with pytest.raises(Invalid) as refused:
        read("姓名\n陈一\n", encoding)
    assert refused.value.slug == "roster-encoding"
    assert "CSV UTF-8" in refused.value.detail


def test_a_workbook_is_refused_with_advice() -> None:
    with pytest.raises(Invalid) as refused:
        read_roster(b"\xd0\xcf\x11\xe0 whatever")
    assert refused.value.slug == "roster-no-csv"


def test_bytes_that_are_no_encoding_are_refused_with_the_line() -> None:
    with pytest.raises(Invalid) as refused:
        read_roster("姓名\n陈一\n".encode() + b"\xff\xff,\n")
    assert refused.value.slug == "roster-encoding"
    assert "line 3" in refused.value.detail


def test_a_file_cut_off_inside_a_character_is_refused_and_not_read_as_gbk() -> None:
    whole = "姓名,单位\n陈一,甲队\n林二,乙队\n".encode()
    for cut in range(4, 40):
        text = whole[:cut]
        try:
            text.decode()
        except UnicodeDecodeError:
            with pytest.raises(Invalid):
                read_roster(text)


def test_a_file_cut_off_inside_quotation_marks_is_refused_with_its_row() -> None:
    with pytest.raises(Invalid) as refused:
        read('姓名,单位\n陈一,"甲队\n林二,乙队\n')
    assert refused.value.slug == "roster-quotes"
    assert refused.value.errors[0].pointer == "/rows/2"


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("编号,姓名,单位,等级分", "external_id name club seed"),
        ("編號,姓名,單位,等級分", "external_id name club seed"),
        ("序号,选手,俱乐部,种子", "external_id name club seed"),
        ("No.,Name,Club,Rating", "external_id name club seed"),
        ("ＮＯ，".replace("，", ",") + "ＮＡＭＥ,Team,ELO", "external_id name club seed"),
        (" 姓 名 *,所属单位（全称）,等级分(2026)", "name club seed"),
        ("队名,队员", "name members"),
        ("姓名,队", "name club"),
        ("桌號,姓名,費用", "- name -"),
        ("電話,姓名,備註,性別,出生日期,郵箱,替補", "phone name notes sex birth_year email substitutes"),
        ("序号,参赛选手,代表队,等级分", "external_id name club seed"),
        ("序號,參賽選手,代表隊,等級分", "external_id name club seed"),
        ("参賽選手,代表单位,當前等級分", "name club seed"),
        ("运动员姓名,参赛队", "name club"),
        ("參賽者姓名,服務單位,行動電話", "name club phone"),
        ("棋手姓名,代表单位,出生年月日", "name club birth_year"),
        ("学生姓名,就读学校", "name club"),
        ("姓名,學校名稱,段位", "name club -"),
        ("选手,所在单位", "name club"),
        ("姓名 Name,單位/Club,性别\nGender,队名/Team", "name club sex club"),
        ("姓名/电话,姓名", "- name"),
        ("Participant,Affiliation,Date of Birth,M/F", "name club birth_year sex"),
        ("Player's Name,School Name,Mobile No.", "name club phone"),
        ("First name,Last name,Club", "first_name last_name club"),
        ("Surname,Given Name(s),Team", "last_name first_name club"),
        ("姓,名,单位", "last_name first_name club"),
        ("Full name,First name,Last name", "name - -"),
        ("姓名,姓,名", "name - -"),
        ("First name,Club", ""),
        ("Name,Chinese Name,English Name", "name - -"),
        ("英文姓名,中文姓名,学校", "- name club"),
        ("English Name,School", "name club"),
        ("代表队,代表单位", "name club"),
    ],
)
def test_headers_are_understood_in_both_scripts_and_english(header: str, columns: str) -> None:
    found = columns_of(header.split(","))
    wanted = {place: Column(word) for place, word in enumerate(columns.split()) if word != "-"}
    assert found == wanted


@pytest.mark.parametrize(
    ("sheet", "name"),
    [
        ("First name,Last name,Club\nAna María,Ruiz,A\n", "Ana María Ruiz"),
        ("Surname,Given name\nRuiz,Ana\n", "Ana Ruiz"),
        ("姓,名\n欧阳,一\n", "欧阳一"),
        ("姓,名\n,一\n", "一"),
        ("First name,Last name\nAna,\n", "Ana"),
    ],
)
def test_a_name_in_two_columns_is_joined_as_its_script_has_it(sheet: str, name: str) -> None:
    roster = read(sheet)
    assert [(row.name, row.problems) for row in roster.rows] == [(name, ())]
    assert roster.headings[Column.NAME] in ("First name + Last name", "Surname + Given name", "姓 + 名")
    (row,) = read("First name,Last name,Club\n,,A\n").rows
    assert [(problem.column, problem.slug) for problem in row.problems] == [("First name + Last name", "missing")]


@pytest.mark.parametrize("header", ["Name,Surname", "First name,Name", "名字,姓"])
def test_a_name_beside_one_part_of_it_is_not_guessed(header: str) -> None:
    with pytest.raises(Invalid) as refused:
        read(f"{header}\nAna,Ruiz\n")
    assert refused.value.slug == "roster-name-parts"
    assert refused.value.context == {"row": 1, "headings": " / ".join(header.split(","))}


def test_a_sheet_in_which_only_teams_are_named_says_so() -> None:
    assert read("代表队,等级分\n北京队,1\n").teams_heading == "代表队"
    assert read("参赛选手,代表队\n陈一,北京队\n").teams_heading is None


def test_a_header_in_two_rows_is_understood_with_group_titles_above() -> None:
    roster = read("序号,姓名,单位信息,,等级,\n,,俱乐部,城市,分,日期\n1,陈一,甲队,某市,1800,2026-01-02\n")
    (row,) = roster.rows
    assert (row.row, row.external_id, row.name, row.club, row.seed) == (3, "1", "陈一", "甲队", 1800)
    assert (str(row.seed_date), row.problems) == ("2026-01-02", ())
    assert (roster.headings[Column.SEED], roster.ignored) == ("等级分", ("城市",))
    titled = read("选手,,,联系,\n姓名,性别,出生年,电话,邮箱\n陈一,男,2001,13800000000,a@b.cn\n")
    assert [(row.row, row.name, row.birth_year, row.problems) for row in titled.rows] == [(3, "陈一", 2001, ())]
    english = read("Player,,Rating,\nFirst name,Last name,score,date\nAna,Ruiz,1800,2026-01-02\n")
    assert [row.name for row in english.rows] == ["Ana Ruiz"]


def test_both_rows_of_a_header_that_is_repeated_are_no_entrants() -> None:
    head = "序号,姓名,等级,\n,,分,日期\n"
    assert names(read(f"{head}1,陈一,1,2026-01-02\n{head}2,林二,2,2026-01-02\n")) == ["陈一", "林二"]


def test_the_first_entrant_is_no_second_row_of_the_header() -> None:
    assert names(read("姓名,职务\n陈一,队员\n林二,领队\n")) == ["陈一", "林二"]
    assert names(read("姓名,,职务\n选,甲,队员\n林二,乙,领队\n")) == ["选", "林二"]
    (bad, _good) = read("姓名,单位,照片,\n,,正面,反面\n陈一,甲,a,b\n").rows
    assert [problem.slug for problem in bad.problems] == ["missing"], "not understood, so refused in its place"


def test_what_stands_above_the_header_is_no_header_of_its_own() -> None:
    text = "代表队,甲队,领队,王三,电话,13800000000\n某某杯象棋赛报名表\n姓名,性别,等级分\n陈一,男,1800\n"
    assert [(row.row, row.name, row.seed) for row in read(text).rows] == [(4, "陈一", 1800)]


def test_two_lists_below_each_other_are_refused_and_neither_is_lost() -> None:
    with pytest.raises(Invalid) as refused:
        read("姓名,单位\n陈一,甲\n姓名,单位,等级分\n林二,乙,1800\n")
    assert (refused.value.slug, refused.value.context) == ("roster-two-headers", {"row": 1, "other": 3})


def test_a_header_may_stand_below_merged_titles_and_notes() -> None:
    titles, header = "2026年甲市象棋公开赛,,,\n报名表,,,\n\n", "编号,姓名,单位,等级分\n"
    text = f"{titles}{header}1,陈一,甲队,1800\n,,,\n  ,\u3000,,\n2,林二,乙队,\n"
    roster = read(text)
    assert [(row.row, row.name, row.seed) for row in roster.rows] == [(5, "陈一", 1800), (8, "林二", None)]


def test_a_header_that_is_repeated_on_every_page_is_no_entrant() -> None:
    assert names(read("姓名,单位\n陈一,甲\n姓名,单位\n林二,乙\n")) == ["陈一", "林二"]


def test_without_a_header_the_sheet_is_refused() -> None:
    with pytest.raises(Invalid) as refused:
        read("陈一,甲队\n林二,乙队\n")
    assert refused.value.slug == "roster-no-header"


def test_two_columns_for_the_same_thing_are_refused() -> None:
    with pytest.raises(Invalid) as refused:
        read("姓名,选手\n陈一,林二\n")
    assert "“姓名” and “选手”" in refused.value.detail


def test_a_header_alone_is_refused() -> None:
    with pytest.raises(Invalid) as refused:
        read("姓名,单位\n\n,\n")
    assert refused.value.slug == "roster-empty"


@pytest.mark.parametrize("nothing", [b"", b"\xef\xbb\xbf", b"\n\n", b" "])
def test_an_empty_file_is_refused(nothing: bytes) -> None:
    with pytest.raises(Invalid):
        read_roster(nothing)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("\u200b陈\u200d一\ufeff", "陈一"),
        ("\u3000陈\u3000 一 ", "陈一"),
        ("陈 一", "陈 一"),
        ("Ａｎａ　Ｍａｒíａ", "Ana María"),
        ("Ana\u3000陈", "Ana 陈"),
        ("葛\U000e0100\u3000𠮷", "葛\U000e0100𠮷"),
        ("陈一２", "陈一2"),
        ("＝１＋１", "＝1＋1"),
        ("㊣㎡Ⅳ豈", "㊣㎡Ⅳ豈"),
        ("陈\u3164一\u2800", "陈 一"),
        ("\U000e0001陈\U000e0041一", "陈一"),
        ("𠮷野𡈽", "𠮷野𡈽"),
        ("棋手😀", "棋手😀"),
        ("Ana Mari\u0301a", "Ana Mar\u00eda"),
        ("=1+1", "=1+1"),
        ("@SUM(A1)", "@SUM(A1)"),
        ("-陈", "-陈"),
        ("Ж. Петров", "Ж. Петров"),
        ('"陈 ""大"" 一"', '陈 "大" 一'),
        ('"陈\n一"', "陈 一"),
    ],
)
def test_names_are_kept_as_typed_but_for_full_width_and_what_cannot_be_seen(typed: str, kept: str) -> None:
    assert names(read(f"姓名,单位\n{typed},甲\n")) == [kept]


def test_clubs_and_members_are_read_like_names_and_notes_as_they_are() -> None:
    (row,) = read("队名,单位,队员,备注\n甲队１,Ｂ　校,陈　一、Ａｎａ,１　楼\n").rows
    assert (row.name, row.club, row.members, row.notes) == ("甲队1", "B 校", ("陈一", "Ana"), "１ 楼")


def test_one_name_spaced_otherwise_has_one_key() -> None:
    assert {name_key(name) for name in ("陈一", "陈 一", "陈\u3000一", "陈 \u200b 一")} == {"陈一"}
    assert name_key("Ana Ma") != name_key("Anama")


def test_very_many_spaces_in_a_name_cost_little() -> None:
    started = process_time()
    assert tidy_name("陈" + "\u3000" * 1_000_000 + "x") == "陈 x"
    assert process_time() - started < 6


@pytest.mark.parametrize(
    ("typed", "seed"),
    [("1800", 1800), ("１８００", 1800), ("１８００．０", 1800), (" 1800.00 ", 1800), ("", None), ("0", 0)],
)
def test_ratings_are_read_as_spreadsheets_write_them(typed: str, seed: int | None) -> None:
    (row,) = read(f"姓名,等级分\n陈一,{typed}\n").rows
    assert (row.seed, row.problems) == (seed, ())


@pytest.mark.parametrize("typed", ["很高", "-1", "4001", "1800.5", "1e3", "99999999999999999999", "五段"])
def test_a_rating_outside_sense_is_refused_at_its_place(typed: str) -> None:
    first, bad = read(f"姓名,等级分\n陈一,1\n林二,{typed}\n").rows
    assert first.problems == ()
    (problem,) = bad.problems
    assert (problem.row, problem.column, problem.slug) == (3, "等级分", "seed")
    assert typed in problem.detail


def test_every_problem_of_every_row_is_named() -> None:
    long = "长" * 201
    roster = read(f"姓名,单位,等级分\n,甲,x\n{long},{long},\n陈\x07一,乙,1\n林二,丙,1,多余\n")
    found = [(problem.row, problem.column, problem.slug) for row in roster.rows for problem in row.problems]
    assert found == [
        (2, "姓名", "missing"),
        (2, "等级分", "seed"),
        (3, "姓名", "too-long"),
        (3, "单位", "too-long"),
        (4, "姓名", "characters"),
        (5, "", "too-many-cells"),
    ]


def test_members_of_a_team_stand_in_one_cell() -> None:
    (row,) = read("队名,队员\n甲队,陈一、林二\n").rows
    assert (row.name, row.members) == ("甲队", ("陈一", "林二"))


def test_twenty_thousand_rows_are_taken_and_one_more_is_not() -> None:
    lines = [f"棋手{number},甲队" for number in range(MAX_ROWS)]
    assert len(read("姓名,单位\n" + "\n".join(lines)).rows) == MAX_ROWS
    with pytest.raises(TooLarge):
        read("姓名,单位\n" + "\n".join([*lines, "多余,甲队"]))


def test_a_file_above_five_megabytes_is_refused_unread() -> None:
    with pytest.raises(TooLarge):
        read_roster("姓名\n".encode() + b"a" * MAX_BYTES)


def test_one_endless_cell_is_refused_by_its_row_and_length_and_not_for_its_quotation_marks() -> None:
    with pytest.raises(Invalid) as refused:
        read('姓名,单位\n陈一,甲\n"' + "陈" * 200_000 + '",甲\n')
    assert refused.value.slug == "roster-cell-too-long"
    assert refused.value.context == {"row": 3, "most": 131_072}


@pytest.mark.parametrize(
    "unseen",
    [
        "\U000e0001",
        "\u3164",
        "\u2800",
        "\u115f",
        "\u1160",
        "\uffa0",
        "\u200b\u3164 ",
        "\u0301",
        "\ufe0f",
        "\u17b4",
        "\u034f",
        "\u061c",
        "\U000e0041\U000e007f",
        "\U000e0101",
        "\u2800\u2800",
        "\u180b",
        "\U000effff",
    ],
    ids=ascii,
)
def test_a_name_of_which_nothing_can_be_seen_is_no_name(unseen: str) -> None:
    (row,) = read(f"姓名,单位\n{unseen},甲\n").rows
    assert [(problem.column, problem.slug) for problem in row.problems] == [("姓名", "missing")]
    (team,) = read(f"队名,队员\n甲队,陈一、{unseen or 'x'}、王三\n").rows
    assert all(map(is_visible, team.members or ())) or [problem.slug for problem in team.problems] == ["invisible"]


@pytest.mark.parametrize(
    "seen",
    ["陈", "𠮷", "\U00031350", "\U0002ebf0", "\ue000", "A", "1", "·", "😀", "葛\U000e0100", "เด็ก", "ㅎ", "⠁"],
    ids=ascii,
)
def test_every_script_can_be_seen(seen: str) -> None:
    assert names(read(f"姓名,单位\n{seen},甲\n")) == [seen]


ROSTER_LIKE = st.lists(
    st.sampled_from(
        [
            "姓名",
            "姓",
            "名",
            "Name",
            "队名",
            "编号",
            "等级",
            "分",
            ",",
            ";",
            "\t",
            "\n",
            "\r",
            '"',
            "陈一",
            "1800",
            "\u200b",
            "𠮷",
            "=",
            " ",
        ]
    ),
    max_size=40,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.binary(max_size=400), ROSTER_LIKE.map(str.encode), ROSTER_LIKE.map(lambda s: s.encode("gb18030"))))
def test_no_bytes_crash_the_reader_or_hang_it(content: bytes) -> None:
    try:
        roster = read_roster(content)
    except QisaiError:
        return  # in words; anything else would be a crash
    assert roster.rows
    for row in roster.rows:
        assert row.problems or 1 <= len(row.name) <= 200
        assert row.name.isprintable()
        assert row.seed is None or 0 <= row.seed <= 4000


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=20), min_size=1, max_size=10))
@example(["\u093a", "\u1056"]).via("vowel signs that hang on nothing")
def test_what_a_spreadsheet_writes_is_read_back(typed: list[str]) -> None:
    lines = ["姓名,备注"] + ['"' + name.replace('"', '""') + '",x' for name in typed]
    rows = read("\n".join(lines)).rows
    assert [row.name for row in rows] == [tidy_name(name) for name in typed]
    assert [bool(row.problems) for row in rows] == [not is_visible(tidy(name)) for name in typed]


@pytest.mark.parametrize("cut", ["编号,姓名,单位\n1,赵一,甲队\n2,钱", "编号,姓名,单位\n1,赵一,甲队\n2"])
def test_a_file_that_ends_inside_its_last_row_is_refused(cut: str) -> None:
    with pytest.raises(Invalid) as refusal:
        read_roster(cut.encode("gb18030"))
    assert refusal.value.slug == "roster-cut-off"
    assert refusal.value.errors[0].pointer == "/rows/3"


@pytest.mark.parametrize(
    "whole", ["姓名,单位\n赵一,甲队\n钱二,乙队", "姓名,单位\n赵一,甲队\n钱二\n", "姓名\n赵一\n钱二"]
)
def test_a_file_whose_last_row_is_whole_or_ended_is_taken(whole: str) -> None:
    assert [row.name for row in read_roster(whole.encode()).rows] == ["赵一", "钱二"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("姓名," + "," * 4_000_000 + "\n陈一\n", id="columns"),
        pytest.param(("(" * 60_000 + "\n") * 20 + "姓名\n陈一\n", id="brackets"),
    ],
)
def test_what_is_wide_or_long_costs_little(text: str) -> None:
    started = process_time()
    assert names(read(text)) == ["陈一"]
    assert process_time() - started < 6


def test_more_columns_than_are_looked_at_are_refused_and_not_left_out() -> None:
    for row in (1, 2):
        lines = ["姓名,单位", "陈一,甲队"]
        lines[row - 1] += "," * 99 + "多余"
        with pytest.raises(TooLarge) as refused:
            read("\n".join(lines) + "\n")
        assert (refused.value.slug, refused.value.context["row"]) == ("roster-too-many-columns", row)


def test_blank_rows_are_counted_too() -> None:
    with pytest.raises(TooLarge) as refused:
        read("姓名\n陈一\n" + "\n" * 60_000)
    assert refused.value.slug == "roster-too-many-rows"
