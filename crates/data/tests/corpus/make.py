"""Makes the corpus of messy files and writes what each must be read as.

    python make.py        (needs openpyxl, xlsxwriter, xlwt, pyarrow, pypdf)

Every case is a file under `files/` and an entry of `expected.json`: the tables with column names, types and rows,
or the code of the error and what its message says. Values are written as the profile's preview shows them.
"""

import datetime as dt
import gzip
import hashlib
import io
import json
import os
import zipfile

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import xlsxwriter
import xlwt

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = os.path.join(HERE, "files")
CASES = []


def table(columns, types, rows, notes=(), guesses=(), units=None, name=None, count=None):
    return {"columns": columns, "types": types, "rows": rows, "notes": [*notes, *guesses],
            "units": units or {}, "name": name, "count": len(rows) if count is None else count}


def case(filename, content, tables=(), error=None, encoding=None, lines=None, keys=None, says=None):
    if isinstance(content, str):
        content = content.encode("utf-8")
    with open(os.path.join(FILES, filename), "wb") as f:
        f.write(content)
    CASES.append({"file": filename, "tables": list(tables), "error": error, "encoding": encoding, "lines": lines, "keys": keys})
    if says:
        CASES[-1]["says"] = says


def csv_cases():
    sales = "日期,产品,金额\n2024-01-02,苹果,1200.5\n2024-01-03,香蕉,800\n"
    sales_table = table(["日期", "产品", "金额"], ["DATE", "VARCHAR", "DOUBLE"],
                        [["2024-01-02", "苹果", 1200.5], ["2024-01-03", "香蕉", 800.0]])
    case("utf8.csv", sales, [sales_table], encoding="utf-8")
    case("utf8_bom.csv", b"\xef\xbb\xbf" + sales.encode(), [sales_table], encoding="utf-8-bom")
    case("gbk.csv", sales.encode("gbk"), [sales_table], encoding="gbk")
    case("gb18030.csv", (sales + "2024-01-04,𠮷野家,5\n").encode("gb18030"),
         [table(["日期", "产品", "金额"], ["DATE", "VARCHAR", "DOUBLE"],
                sales_table["rows"] + [["2024-01-04", "𠮷野家", 5.0]])], encoding="gb18030")
    case("utf16.csv", sales.encode("utf-16"), [sales_table], encoding="utf-16")
    case("utf16_no_bom.csv", "date,product,amount\n2024-01-02,apple,3\n2024-01-05,pear,4\n".encode("utf-16-le"),
         [table(["date", "product", "amount"], ["DATE", "VARCHAR", "BIGINT"], [["2024-01-02", "apple", 3], ["2024-01-05", "pear", 4]])],
         encoding="utf-16-le")
    case("cp1252.csv", "name;city;n\nJosé;Málaga;1\nZoë;Köln;2\n".encode("cp1252"),
         [table(["name", "city", "n"], ["VARCHAR", "VARCHAR", "BIGINT"], [["José", "Málaga", 1], ["Zoë", "Köln", 2]],
                guesses=["delimiter `;`"])], encoding="cp1252")
    case("crlf_cr.csv", "a,b\r\n1,x\r\n2,y\r\n", [table(["a", "b"], ["BIGINT", "VARCHAR"], [[1, "x"], [2, "y"]])])
    case("old_mac.csv", "a,b\r1,x\r2,y\r", [table(["a", "b"], ["BIGINT", "VARCHAR"], [[1, "x"], [2, "y"]])])
    case("tab.tsv", "城市\t人口\n北京\t2189\n上海\t2487\n", [table(["城市", "人口"], ["VARCHAR", "BIGINT"], [["北京", 2189], ["上海", 2487]])])
    case("pipe.csv", "id|name|score\n1|a|3.5\n2|b|4\n", [table(["id", "name", "score"], ["BIGINT", "VARCHAR", "DOUBLE"],
                                                          [[1, "a", 3.5], [2, "b", 4.0]], guesses=["delimiter `|`"])])
    case("european.csv", "Datum;Umsatz;Menge\n02.01.2024;1.234,56;3\n15.01.2024;99,90;12\n",
         [table(["Datum", "Umsatz", "Menge"], ["DATE", "DOUBLE", "BIGINT"], [["2024-01-02", 1234.56, 3], ["2024-01-15", 99.9, 12]],
                guesses=["decimal"])])
    case("sep_hint.csv", "sep=;\na;b\n1;2\n3;4\n", [table(["a", "b"], ["BIGINT", "BIGINT"], [[1, 2], [3, 4]])])
    case("quoted.csv", 'name,note\n"Smith, John","said ""hi""\nand left"\nLee,ok\n',
         [table(["name", "note"], ["VARCHAR", "VARCHAR"], [["Smith, John", 'said "hi"\nand left'], ["Lee", "ok"]])])
    case("titles_above.csv", "某某公司2024年一季度销售报表,,,\n单位：元,,,\n,,,\n月份,产品,数量,金额\n1月,手机,10,\"12,000.00\"\n2月,电脑,5,\"25,500.50\"\n",
         [table(["月份", "产品", "数量", "金额", "年月"], ["VARCHAR", "VARCHAR", "BIGINT", "DOUBLE", "DATE"],
                [["1月", "手机", 10, 12000.0, "2024-01-01"], ["2月", "电脑", 5, 25500.5, "2024-02-01"]],
                guesses=["header on row 4", "groups thousands", "year 2024 taken from the title", "unit 元"], units={"金额": "元"})])
    case("footnotes.csv", "地区,销量,占比\n华东,120,30%\n华北,280,70%\n\n注：数据截至2024-03-31\n制表人：张三\n",
         [table(["地区", "销量", "占比"], ["VARCHAR", "BIGINT", "DOUBLE"], [["华东", 120, 0.3], ["华北", 280, 0.7]],
                notes=["footnote left out"], guesses=["percentages"], units={"占比": "%"})])
    case("totals.csv", "地区,销量\n华东,120\n华北,280\n华南,100\n合计,500\n",
         [table(["地区", "销量"], ["VARCHAR", "BIGINT"], [["华东", 120], ["华北", 280], ["华南", 100]], notes=["1 total row(s) left out (`合计`)"])])
    case("no_header.csv", "2024-01-01,10,3.5\n2024-01-02,20,4.5\n2024-01-03,30,5.5\n",
         [table(["column_1", "column_2", "column_3"], ["DATE", "BIGINT", "DOUBLE"],
                [["2024-01-01", 10, 3.5], ["2024-01-02", 20, 4.5], ["2024-01-03", 30, 5.5]], guesses=["no header row"])])
    case("header_only.csv", "id,name,amount\n", [table(["id", "name", "amount"], ["VARCHAR", "VARCHAR", "VARCHAR"], [])])
    case("one_column.csv", "city\n北京\n上海\n广州\n", [table(["city"], ["VARCHAR"], [["北京"], ["上海"], ["广州"]])])
    case("ragged.csv", "a,b,c\n1,2,3\n4,5\n6,7,8,9\n10,11,12\n",
         [table(["a", "b", "c", "column_4"], ["BIGINT"] * 4, [[1, 2, 3, None], [4, 5, None, None], [6, 7, 8, 9], [10, 11, 12, None]],
                notes=["shorter than the header", "longer than the header"])])
    case("blank_rows.csv", "a,b\n1,x\n,\n\n2,y\n", [table(["a", "b"], ["BIGINT", "VARCHAR"], [[1, "x"], [2, "y"]], notes=["blank row"])])
    case("duplicate_names.csv", "id,amount,amount,,AMOUNT\n1,2,3,4,5\n6,7,8,9,10\n",
         [table(["id", "amount", "amount_2", "column_4", "AMOUNT_3"], ["BIGINT"] * 5, [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]],
                notes=["repeated column name"])])
    case("duplicate_rows.csv", "k,v\na,1\na,1\nb,2\n", [table(["k", "v"], ["VARCHAR", "BIGINT"], [["a", 1], ["a", 1], ["b", 2]], notes=["1 duplicate row"])])
    case("empty_column.csv", "k,备注,v\na,,1\nb,,2\n", [table(["k", "备注", "v"], ["VARCHAR", "VARCHAR", "BIGINT"], [["a", None, 1], ["b", None, 2]],
                                                          notes=["empty column"])])
    case("nul_bytes.csv", b"a,b\n1,x\x00y\n2,z\n", [table(["a", "b"], ["BIGINT", "VARCHAR"], [[1, "xy"], [2, "z"]], notes=["NUL"])])
    case("leading_zeros.csv", "员工编号,邮编,金额\n00123,100000,5\n00456,010010,6\n",
         [table(["员工编号", "邮编", "金额"], ["VARCHAR", "VARCHAR", "BIGINT"], [["00123", "100000", 5], ["00456", "010010", 6]])])
    case("long_ids.csv", "银行卡号,金额\n6222021234567890123,10\n6222021234567890456,20\n",
         [table(["银行卡号", "金额"], ["VARCHAR", "BIGINT"], [["6222021234567890123", 10], ["6222021234567890456", 20]])])
    case("fullwidth.csv", "品名,数量\n甲,１２\n乙,３４５\n", [table(["品名", "数量"], ["VARCHAR", "BIGINT"], [["甲", 12], ["乙", 345]])])
    case("spaces.csv", "name, amount\n apple , 1\npear  , 2\n", [table(["name", "amount"], ["VARCHAR", "BIGINT"], [["apple", 1], ["pear", 2]],
                                                                     guesses=["spaces around text"])])


def value_cases():
    dates = ["2024-01-02", "2024-11-30", "2023-12-31"]
    shapes = {"iso": ["2024-01-02", "2024-11-30", "2023-12-31"], "slash": ["2024/1/2", "2024/11/30", "2023/12/31"],
              "chinese": ["2024年1月2日", "2024年11月30日", "2023年12月31日"], "compact": ["20240102", "20241130", "20231231"],
              "dots": ["2024.1.2", "2024.11.30", "2023.12.31"], "serial": ["45293", "45626", "45291"],
              "day_first": ["02/01/2024", "30/11/2024", "31/12/2023"], "month_first": ["01/02/2024", "11/30/2024", "12/31/2023"],
              "english": ["02-Jan-2024", "30-Nov-2024", "31-Dec-2023"]}
    for name, texts in shapes.items():
        body = "日期,n\n" + "".join(f"{t},{i}\n" for i, t in enumerate(texts))
        case(f"dates_{name}.csv", body, [table(["日期", "n"], ["DATE", "BIGINT"], [[d, i] for i, d in enumerate(dates)])])
    case("dates_ambiguous.csv", "day,n\n01/02/2024,1\n03/04/2024,2\n",
         [table(["day", "n"], ["DATE", "BIGINT"], [["2024-01-02", 1], ["2024-03-04", 2]], guesses=["could be swapped"])])
    case("dates_mixed_styles.csv", "日期,n\n2024-01-02,1\n2024/1/3,2\n2024年1月4日,3\n20240105,4\n",
         [table(["日期", "n"], ["DATE", "BIGINT"], [["2024-01-02", 1], ["2024-01-03", 2], ["2024-01-04", 3], ["2024-01-05", 4]])])
    case("months.csv", "月份,n\n2024年1月,1\n2024年10月,2\n",
         [table(["月份", "n"], ["DATE", "BIGINT"], [["2024-01-01", 1], ["2024-10-01", 2]], guesses=["first day"])])
    case("timestamps.csv", "时间,n\n2024-01-02 08:30,1\n2024-01-02 18:05:09,2\n",
         [table(["时间", "n"], ["TIMESTAMP", "BIGINT"], [["2024-01-02 08:30:00", 1], ["2024-01-02 18:05:09", 2]])])
    case("zoned.csv", "at,n\n2024-01-02T08:30:00+08:00,1\n2024-01-02T00:30:00Z,2\n",
         [table(["at", "n"], ["TIMESTAMP WITH TIME ZONE", "BIGINT"], [["2024-01-02 00:30:00+00", 1], ["2024-01-02 00:30:00+00", 2]])])
    case("impossible_date.csv", "日期,n\n2024-02-28,1\n2024-02-29,2\n2024-02-30,3\n2024-03-01,4\n2024-03-02,5\n",
         [table(["日期", "日期_raw", "n"], ["DATE", "VARCHAR", "BIGINT"],
                [["2024-02-28", None, 1], ["2024-02-29", None, 2], [None, "2024-02-30", 3], ["2024-03-01", None, 4], ["2024-03-02", None, 5]],
                notes=["impossible dates"])])
    case("suspicious_date.csv", "日期,n\n1900-01-01,1\n2024-02-29,2\n2999-12-31,3\n",
         [table(["日期", "n"], ["DATE", "BIGINT"], [["1900-01-01", 1], ["2024-02-29", 2], ["2999-12-31", 3]], notes=["suspicious date 1900", "suspicious date 2999"])])
    case("currency.csv", "品类,售价,成本\nA,\"¥1,234.50\",$10\nB,￥99,$20.5\n",
         [table(["品类", "售价", "成本"], ["VARCHAR", "DOUBLE", "DOUBLE"], [["A", 1234.5, 10.0], ["B", 99.0, 20.5]], units={"售价": "¥", "成本": "$"})])
    case("percent.csv", "渠道,转化率\n线上,12.5%\n线下,３％\n其他,-0.5%\n",
         [table(["渠道", "转化率"], ["VARCHAR", "DOUBLE"], [["线上", 0.125], ["线下", 0.03], ["其他", -0.005]], units={"转化率": "%"})])
    case("wan_yi.csv", "公司,营收\n甲,1.2亿\n乙,3500万\n丙,9000\n",
         [table(["公司", "营收"], ["VARCHAR", "DOUBLE"], [["甲", 120000000.0], ["乙", 35000000.0], ["丙", 9000.0]], guesses=["multiplied out"])])
    case("units.csv", "商品,重量,库存\n米,25kg,30件\n面,10kg,8件\n",
         [table(["商品", "重量", "库存"], ["VARCHAR", "BIGINT", "BIGINT"], [["米", 25, 30], ["面", 10, 8]], units={"重量": "kg", "库存": "件"})])
    case("accounting.csv", "科目,余额\n收入,\"1,000.00\"\n成本,\"(250.50)\"\n税费,30-\n",
         [table(["科目", "余额"], ["VARCHAR", "DOUBLE"], [["收入", 1000.0], ["成本", -250.5], ["税费", -30.0]], guesses=["negative"])])
    case("null_markers.csv", "k,v,r\na,1,NA\nb,-,EU\nc,N/A,-\nd,无,NA\ne,5,EU\n",
         [table(["k", "v", "r"], ["VARCHAR", "BIGINT", "VARCHAR"],
                [["a", 1, "NA"], ["b", None, "EU"], ["c", None, "-"], ["d", None, "NA"], ["e", 5, "EU"]], guesses=["read as empty"])])
    case("words_among_numbers.csv", "k,金额\na,1\nb,2\nc,待定\nd,4\ne,5\nf,6\n",
         [table(["k", "金额", "金额_raw"], ["VARCHAR", "BIGINT", "VARCHAR"],
                [["a", 1, None], ["b", 2, None], ["c", None, "待定"], ["d", 4, None], ["e", 5, None], ["f", 6, None]], notes=["not numbers"])])
    case("codes_among_numbers.csv", "编号,n\n1001,1\n1002,2\nA1003,3\n1004,4\n1005,5\n",
         [table(["编号", "n"], ["VARCHAR", "BIGINT"], [["1001", 1], ["1002", 2], ["A1003", 3], ["1004", 4], ["1005", 5]])])
    case("booleans.csv", "k,vip\na,TRUE\nb,false\n", [table(["k", "vip"], ["VARCHAR", "BOOLEAN"], [["a", True], ["b", False]])])
    case("scientific.csv", "k,v\na,1.5e3\nb,2E-2\n", [table(["k", "v"], ["VARCHAR", "DOUBLE"], [["a", 1500.0], ["b", 0.02]])])
    case("swiss.csv", "k;v\na;1'234.50\nb;12'000\n", [table(["k", "v"], ["VARCHAR", "DOUBLE"], [["a", 1234.5], ["b", 12000.0]])])


def book(fill, options=None):
    sink = io.BytesIO()
    workbook = xlsxwriter.Workbook(sink, {"in_memory": True, **(options or {})})
    fill(workbook)
    workbook.close()
    return sink.getvalue()


def excel_cases():
    def simple(b):
        s = b.add_worksheet("销售")
        day = b.add_format({"num_format": "yyyy-mm-dd"})
        pct = b.add_format({"num_format": "0.0%"})
        for j, n in enumerate(["日期", "产品", "数量", "占比"]):
            s.write(0, j, n)
        for i, (d, p, n, r) in enumerate([(dt.date(2024, 1, 2), "苹果", 3, 0.25), (dt.date(2024, 1, 3), "梨", 4.5, 0.75)]):
            s.write_datetime(i + 1, 0, dt.datetime.combine(d, dt.time()), day)
            s.write(i + 1, 1, p)
            s.write(i + 1, 2, n)
            s.write(i + 1, 3, r, pct)
        other = b.add_worksheet("说明 2")
        other.write(0, 0, "key")
        other.write(0, 1, "value")
        other.write(1, 0, "版本")
        other.write(1, 1, 2)
        b.add_worksheet("空表")

    case("two_sheets.xlsx", book(simple), [
        table(["日期", "产品", "数量", "占比"], ["DATE", "VARCHAR", "DOUBLE", "DOUBLE"],
              [["2024-01-02", "苹果", 3.0, 0.25], ["2024-01-03", "梨", 4.5, 0.75]], name="two_sheets_销售"),
        table(["key", "value"], ["VARCHAR", "BIGINT"], [["版本", 2]], name="two_sheets_说明_2")])

    def merged(b):
        s = b.add_worksheet("Sheet1")
        s.merge_range(0, 0, 0, 4, "2024年区域业绩")
        s.merge_range(1, 0, 2, 0, "区域")
        s.merge_range(1, 1, 1, 2, "上半年")
        s.merge_range(1, 3, 1, 4, "下半年")
        for j, n in enumerate(["销售额", "利润", "销售额", "利润"]):
            s.write(2, j + 1, n)
        for i, row in enumerate([["华东", 100, 10, 120, 12.5], ["华北", 90, 9, 95, 9.5]]):
            s.write_row(3 + i, 0, row)

    case("merged_header.xlsx", book(merged), [
        table(["区域", "上半年_销售额", "上半年_利润", "下半年_销售额", "下半年_利润"], ["VARCHAR", "BIGINT", "BIGINT", "BIGINT", "DOUBLE"],
              [["华东", 100, 10, 120, 12.5], ["华北", 90, 9, 95, 9.5]], guesses=["title row", "header over 2 rows"])])

    def offset(b):
        s = b.add_worksheet("数据")
        s.write_row(4, 2, ["name", "amount"])
        s.write_row(5, 2, ["x", 1])
        s.write_row(6, 2, ["y", 2])
        s.write(9, 2, "备注：未审计")

    case("offset_table.xlsx", book(offset), [table(["name", "amount"], ["VARCHAR", "BIGINT"], [["x", 1], ["y", 2]])])

    def errors(b):
        s = b.add_worksheet("S")
        s.write_row(0, 0, ["item", "price", "qty", "total"])
        s.write_row(1, 0, ["a", 2, 3])
        s.write_formula(1, 3, "=B2*C2", None, 6)
        s.write_row(2, 0, ["b", 4, 0])
        s.write_formula(2, 3, "=B3/C3", None, "#DIV/0!")
        s.write_row(3, 0, ["c", 5, 1])
        s.write_formula(3, 3, "=NA()", None, "#N/A")

    case("formulas_errors.xlsx", book(errors), [table(["item", "price", "qty", "total"], ["VARCHAR", "BIGINT", "BIGINT", "BIGINT"],
                                                      [["a", 2, 3, 6], ["b", 4, 0, None], ["c", 5, 1, None]])])

    def texty(b):
        s = b.add_worksheet("S")
        s.write_row(0, 0, ["编号", "金额", "日期"])
        for i, r in enumerate([["001", "1,200.50", "2024年1月2日"], ["002", "300", "2024年1月5日"]]):
            for j, v in enumerate(r):
                s.write_string(i + 1, j, v)

    case("numbers_as_text.xlsx", book(texty), [table(["编号", "金额", "日期"], ["VARCHAR", "DOUBLE", "DATE"],
                                                     [["001", 1200.5, "2024-01-02"], ["002", 300.0, "2024-01-05"]])])

    def stray(b):
        s = b.add_worksheet("S")
        s.write_row(0, 0, ["k", "v"])
        s.write_row(1, 0, ["a", 1])
        s.write_row(2, 0, ["b", 2])
        s.write(1048575, 16383, "x")

    case("stray_corner.xlsx", book(stray), [table(["k", "v"], ["VARCHAR", "BIGINT"], [["a", 1], ["b", 2]], notes=["stray cell"])])

    def pivot(b):
        s = b.add_worksheet("S")
        s.write_row(0, 0, ["地区", 2022, 2023, 2024])
        s.write_row(1, 0, ["华东", 1, 2, 3])
        s.write_row(2, 0, ["华北", 4, 5, 6])

    case("years_as_header.xlsx", book(pivot), [table(["地区", "2022", "2023", "2024"], ["VARCHAR", "BIGINT", "BIGINT", "BIGINT"],
                                                     [["华东", 1, 2, 3], ["华北", 4, 5, 6]])])
    old = xlwt.Workbook(encoding="utf-8")
    s = old.add_sheet("旧表")
    for j, n in enumerate(["日期", "金额"]):
        s.write(0, j, n)
    for i, (d, v) in enumerate([(dt.date(2020, 5, 1), 10.5), (dt.date(2020, 5, 2), 11)]):
        s.write(i + 1, 0, d, xlwt.easyxf(num_format_str="YYYY-MM-DD"))
        s.write(i + 1, 1, v)
    sink = io.BytesIO()
    old.save(sink)
    case("old.xls", sink.getvalue(), [table(["日期", "金额"], ["DATE", "DOUBLE"], [["2020-05-01", 10.5], ["2020-05-02", 11.0]])])
    html = "<html><head><meta charset='gbk'></head><body><table><tr><th>店铺</th><th>销量</th></tr><tr><td>一店</td><td>1,200</td></tr><tr><td>二店</td><td>90</td></tr></table></body></html>"
    case("html_inside.xls", html.encode("gbk"), [table(["店铺", "销量"], ["VARCHAR", "BIGINT"], [["一店", 1200], ["二店", 90]], notes=["HTML page"])])
    case("login_page.xlsx", b"<!doctype html><html><body><form>Sign in</form></body></html>", error="NOT_A_WORKBOOK")
    case("html_named.xlsx", html.encode("utf-8"), [table(["店铺", "销量"], ["VARCHAR", "BIGINT"], [["一店", 1200], ["二店", 90]], notes=["HTML page"])])
    case("csv_inside.xls", "a\tb\n1\tx\n2\ty\n", [table(["a", "b"], ["BIGINT", "VARCHAR"], [[1, "x"], [2, "y"]])])
    case("encrypted.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504 + b"\0" * 1024 + "EncryptedPackage".encode("utf-16-le") + b"\0" * 512,
         error="PASSWORD_PROTECTED")
    case("not_a_workbook.xlsx", b"\x00\x01\x02\x03" * 200, error="NOT_A_WORKBOOK")
    case("truncated.xlsx", book(simple)[:900], error="BAD_WORKBOOK")
    bad_archives()


def bad_archives():
    case("other_zip.xlsx", _zip({"readme.txt": b"hello"}), error="NOT_A_WORKBOOK", says="this is a zip archive, not a table")
    laughs = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">' + b"".join(
        b'<!ENTITY %c "&%c;&%c;&%c;&%c;&%c;&%c;&%c;&%c;">' % (98 + i, *([97 + i] * 8)) for i in range(12)) + b"]>"
    sheet = laughs + (b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1" t="inlineStr">'
                      b"<is><t>&m;</t></is></c></row></sheetData></worksheet>")
    case("billion_laughs.xlsx", _workbook_with(sheet), error="BAD_WORKBOOK")


def _zip(parts):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in parts.items():
            z.writestr(name, data)
    return sink.getvalue()


def _workbook_with(sheet):
    """A minimal workbook around one hand-written sheet."""
    plain = openpyxl.Workbook()
    sink = io.BytesIO()
    plain.save(sink)
    with zipfile.ZipFile(io.BytesIO(sink.getvalue())) as z:
        parts = {n: z.read(n) for n in z.namelist()}
    parts["xl/worksheets/sheet1.xml"] = sheet
    return _zip(parts)


def other_cases():
    case("records.json", json.dumps([{"id": 1, "name": "甲", "addr": {"city": "北京"}, "d": "2024-01-02"}, {"id": 2, "name": "乙", "tags": [1, 2], "d": "2024-01-03"}], ensure_ascii=False),
         [table(["id", "name", "addr.city", "d", "tags"], ["BIGINT", "VARCHAR", "VARCHAR", "DATE", "VARCHAR"],
                [[1, "甲", "北京", "2024-01-02", None], [2, "乙", None, "2024-01-03", "[1, 2]"]])])
    case("wrapped.json", json.dumps({"code": 0, "data": [{"k": "a", "v": 1.5}, {"k": "b", "v": 2}]}),
         [table(["k", "v"], ["VARCHAR", "DOUBLE"], [["a", 1.5], ["b", 2.0]], name="wrapped_data")], keys=["code", "data"])
    case("columns.json", json.dumps({"k": ["a", "b"], "v": [1, 2]}), [table(["k", "v"], ["VARCHAR", "BIGINT"], [["a", 1], ["b", 2]])], keys=["k", "v"])
    case("config.json", json.dumps({"settings": {"a": 1}, "data": None, "options": "x"}), [], keys=["settings", "data", "options"])
    case("broken.json", '{"a": [1, 2', error="BAD_JSON")
    case("deep.json", "[" * 100_000, error="BAD_JSON")
    case("events.jsonl", '{"t":"2024-01-02T03:04:05Z","n":1}\nnot json\n{"t":"2024-01-02T03:04:06Z","n":2}\n',
         [table(["t", "n"], ["TIMESTAMP WITH TIME ZONE", "BIGINT"], [["2024-01-02 03:04:05+00", 1], ["2024-01-02 03:04:06+00", 2]], notes=["not valid JSON"])])
    sink = io.BytesIO()
    pq.write_table(pa.table({"日期": pa.array([dt.date(2024, 1, 2)]), "big": pa.array([2**62]), "t": pa.array([[1, 2]])}), sink)
    case("typed.parquet", sink.getvalue(), [table(["日期", "big", "t"], ["DATE", "BIGINT", "BIGINT[]"], [["2024-01-02", "4611686018427387904", [1, 2]]])])
    case("not.parquet", "hello", error="NOT_PARQUET")
    case("notes.txt", "第一行\n第二行\n第三行".encode("gbk"), [], encoding="gbk", lines=3)
    case("readme.md", "# T\n\ntext\n", [], lines=3)
    case("script.py", "import os\n\ndef load(x):\n    return x\n\nclass Model:\n    def fit(self): pass\n", [], lines=7, keys=["load", "Model"])
    case("q.sql", "select 1;\n", [], lines=1)
    case("empty.csv", b"", error="EMPTY_FILE")
    case("blank.csv", b"\n\n  \n", error="EMPTY_FILE")
    case("binary.dat", bytes(range(256)) * 4, error="UNSUPPORTED_FORMAT")
    case("fake.pdf", "%PDF-1.4 nothing here", error="BAD_PDF")
    case("one.pdf", _pdf("Quarterly report 2024"), [], lines=1)
    wide = ",".join(f"c{i}" for i in range(3000)) + "\n" + ",".join("1" for _ in range(3000)) + "\n"
    case("wide.csv", wide, [table([f"c{i}" for i in range(3000)], ["BIGINT"] * 3000, [[1] * 3000])])


def disguised_cases():
    """Files that are no tables under the names of tables, and tables that begin like them."""
    def no_table(filename, content, kind, error="UNSUPPORTED_FORMAT"):
        case(filename, content, error=error, says=f"this is {kind}, not a table")

    png = b"\x89PNG\r\n\x1a\n" + b"0,1\n" * 120
    no_table("picture.csv", png + bytes(range(256)) * 4, "a PNG image")
    no_table("picture.xlsx", png, "a PNG image")
    no_table("photo.txt", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(range(256)), "a JPEG image")
    case("packed.csv", gzip.compress(b"a,b\n1,2\n", mtime=0), [table(["a", "b"], ["BIGINT", "BIGINT"], [[1, 2]])])
    no_table("program.json", b"\x7fELF\x02\x01\x01" + bytes(range(256)), "a Linux program")
    no_table("bitmap.csv", b"BM\x46\x00\x00\x00" + bytes(4) + b"\x36\x00\x00\x00\x28\x00\x00\x00" + bytes(48), "a BMP image")
    no_table("song.csv", b"ID3\x04\x00\x00\x00\x00\x00\x23" + b"\xff\xfb\x90\x64" * 50, "an MP3 recording")
    case("lite.csv", b"SQLite format 3\x00" + bytes(range(256)), error="BAD_FILE", says="the SQLite database is damaged")
    no_table("noise.tsv", hashlib.shake_128(b"noise").digest(3000), "binary data")
    case("letter.xlsx", _zip({"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<w/>"}), error="EMPTY_FILE", says="holds no text and no table")
    no_table("slides.pptx", _zip({"[Content_Types].xml": b"<Types/>", "ppt/presentation.xml": b"<p/>"}), "a PowerPoint presentation", "NOT_A_WORKBOOK")
    old_letter = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1528) + "WordDocument".encode("utf-16-le") + bytes(512)
    no_table("old_letter.xls", old_letter, "a Word document", "NOT_A_WORKBOOK")

    case("bmi.csv", "BMI,年龄\n21.5,30\n23,41\n", [table(["BMI", "年龄"], ["DOUBLE", "BIGINT"], [[21.5, 30], [23.0, 41]])])
    case("id3.csv", "ID3,MZ\na,1\nb,2\n", [table(["ID3", "MZ"], ["VARCHAR", "BIGINT"], [["a", 1], ["b", 2]])])
    # A program that pads its fields with NUL, and one that leaves an odd control character in a remark.
    case("padded.csv", b"name,n\nab\x00\x00\x00\x00,1\ncd\x00\x00\x00\x00,2\nsmudge\x01\x02,3\n",
         [table(["name", "n"], ["VARCHAR", "BIGINT"], [["ab", 1], ["cd", 2], ["smudge\x01\x02", 3]], notes=["NUL"])])
    # Low bytes of wide Chinese characters are control bytes.
    case("utf16_chinese.csv", "一七上下,金额\n丁丂丅丆,1\n万丈三丌,2\n".encode("utf-16"),
         [table(["一七上下", "金额"], ["VARCHAR", "BIGINT"], [["丁丂丅丆", 1], ["万丈三丌", 2]])], encoding="utf-16")
    case("open.ods", _open_document([["店铺", "销量"], ["一店", 3]]), [table(["店铺", "销量"], ["VARCHAR", "BIGINT"], [["一店", 3]])])


def _open_document(rows):
    kinds = "".join(f' xmlns:{p}="urn:oasis:names:tc:opendocument:xmlns:{p}:1.0"' for p in ("office", "table", "text"))

    def cell(value):
        how = 'office:value-type="string"' if isinstance(value, str) else f'office:value-type="float" office:value="{value}"'
        return f"<table:table-cell {how}><text:p>{value}</text:p></table:table-cell>"

    body = "".join("<table:table-row>" + "".join(map(cell, r)) + "</table:table-row>" for r in rows)
    content = (f'<?xml version="1.0"?><office:document-content{kinds}><office:body><office:spreadsheet><table:table table:name="S">{body}'
               "</table:table></office:spreadsheet></office:body></office:document-content>")
    manifest = ('<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
                '<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>')
    return _zip({"mimetype": b"application/vnd.oasis.opendocument.spreadsheet", "content.xml": content.encode(), "META-INF/manifest.xml": manifest.encode()})


def _pdf(text):
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
               b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 144] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
               None, b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    stream = f"BT /F1 18 Tf 20 100 Td ({text}) Tj ET".encode()
    objects[3] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream)
    out, places = b"%PDF-1.4\n", []
    for i, o in enumerate(objects):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (i + 1, o)
    start = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % p for p in places)
    return out + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % start


if __name__ == "__main__":
    os.makedirs(FILES, exist_ok=True)
    for old_file in os.listdir(FILES):
        os.remove(os.path.join(FILES, old_file))
    csv_cases()
    value_cases()
    excel_cases()
    other_cases()
    disguised_cases()
    with open(os.path.join(HERE, "expected.json"), "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print(f"{len(CASES)} cases")
