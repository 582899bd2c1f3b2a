"""Archives, databases and typed files: for each a good, a broken and a hostile file, made here."""

import datetime
import gzip
import io
import os
import sqlite3
import struct

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.orc
import pyarrow.parquet
import pytest
from format_files import codes, held, kept, kind, put, quiet, refused, sas7bdat, xport, zipped

from ba_worker.tables import archive, arrowfile, dbfile, signatures, statfile, typed
from ba_worker.tables.errors import TableError


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


class TestGzip:
    def test_good(self):
        put("sales.csv.gz", gzip.compress(b"a,b\n1,2\n"))
        assert kind("sales.csv.gz") == "gzip"
        found, notes = archive.members("sales.csv.gz", "sales.csv.gz", "gzip", ".", quiet)
        assert [n for n, _ in found] == ["sales.csv"] and held(found[0][1]) == b"a,b\n1,2\n" and notes == []

    def test_content_wins_over_the_name(self):
        put("sales.csv", gzip.compress(b"a,b\n1,2\n"))
        assert kind("sales.csv") == "gzip"

    def test_cut_off(self):
        put("x.csv.gz", gzip.compress(os.urandom(5000))[:2000])
        assert refused(archive.members, "x.csv.gz", "x.csv.gz", "gzip", ".", quiet).code == "BAD_ARCHIVE"

    def test_bomb(self):
        packed = io.BytesIO()
        with gzip.GzipFile(fileobj=packed, mode="wb") as f:
            for _ in range(130):
                f.write(bytes(1 << 20))
        put("x.csv.gz", packed.getvalue())
        e = refused(archive.members, "x.csv.gz", "x.csv.gz", "gzip", ".", quiet)
        assert e.code == "ZIP_BOMB" and e.hint
        assert os.path.getsize("member_1") <= archive.BOMB_SIZE

    def test_archive_inside(self):
        put("x.gz", gzip.compress(gzip.compress(b"a,b\n1,2\n")))
        assert refused(archive.members, "x.gz", "x.gz", "gzip", ".", quiet).code == "NESTED_ARCHIVE"


class TestZip:
    def test_good_with_a_picture_left_out(self):
        zipped({"2024/一月.csv": "a,b\n1,2\n", "二月.tsv": "a\tb\n", "logo.png": b"\x89PNG\r\n\x1a\n123", "__MACOSX/._x": b"1", "d/": ""}, "x.zip")
        assert kind("x.zip") == "zip"
        found, notes = archive.members("x.zip", "x.zip", "zip", ".", quiet)
        assert [n for n, _ in found] == ["一月.csv", "二月.tsv"]
        assert codes(notes) == ["member_left_out"] and notes[0]["level"] == "warn" and "logo.png" in notes[0]["text"]

    def test_names_of_chinese_windows(self):
        data = held(zipped({"xx.csv": "a\n1\n"}, "x.zip")).replace(b"xx.csv", "销".encode("gbk") + b".csv")
        put("x.zip", data)
        assert archive.members("x.zip", "x.zip", "zip", ".", quiet)[0][0][0] == "销.csv"

    def test_a_workbook_is_no_nested_archive(self):
        pd.DataFrame({"a": [1]}).to_excel("b.xlsx", index=False)
        zipped({"b.xlsx": held("b.xlsx")}, "x.zip")
        assert [n for n, _ in archive.members("x.zip", "x.zip", "zip", ".", quiet)[0]] == ["b.xlsx"]

    def test_broken(self):
        put("x.zip", held(zipped({"a.csv": "a,b\n" * 1000}, "whole.zip"))[:-30])
        assert refused(kind, "x.zip").code == "BAD_FILE"
        data = bytearray(held("whole.zip"))
        data[45] ^= 0xff
        put("x.zip", bytes(data))
        assert refused(archive.members, "x.zip", "x.zip", "zip", ".", quiet).code == "BAD_ARCHIVE"

    def test_names_are_never_paths(self, tmp_path):
        os.mkdir("work")
        zipped({"../../evil.csv": "a\n1\n", "/etc/evil2.csv": "a\n1\n", "..\\..\\evil3.csv": "a\n1\n"}, "x.zip")
        found, _ = archive.members("x.zip", "x.zip", "zip", "work", quiet)
        assert sorted(n for n, _ in found) == ["evil.csv", "evil2.csv", "evil3.csv"]
        assert sorted(os.listdir("work")) == ["member_1", "member_2", "member_3"]
        assert not os.path.exists(tmp_path.parent / "evil.csv")

    def test_bombs_nests_crowds_and_passwords(self):
        zipped({"a.csv": bytes(130 << 20)}, "bomb.zip")
        assert refused(archive.members, "bomb.zip", "bomb.zip", "zip", ".", quiet).code == "ZIP_BOMB"
        zipped({"in.zip": held(zipped({"a.csv": "a\n1\n"}, "in.zip"))}, "nest.zip")
        assert refused(archive.members, "nest.zip", "nest.zip", "zip", ".", quiet).code == "NESTED_ARCHIVE"
        zipped({f"{i}.csv": "a\n1\n" for i in range(51)}, "crowd.zip")
        assert refused(archive.members, "crowd.zip", "crowd.zip", "zip", ".", quiet).code == "TOO_MANY_MEMBERS"
        data = bytearray(held(zipped({"a.csv": "a\n1\n"}, "p.zip")))
        data[6] |= 1
        data[data.index(b"PK\x01\x02") + 8] |= 1
        put("p.zip", bytes(data))
        e = refused(archive.members, "p.zip", "p.zip", "zip", ".", quiet)
        assert e.code == "PASSWORD_PROTECTED" and "upload" in e.hint

    def test_nothing_to_read(self):
        zipped({"logo.png": b"\x89PNG\r\n\x1a\n123"}, "x.zip")
        assert refused(archive.members, "x.zip", "x.zip", "zip", ".", quiet).code == "NO_TABLE"


class TestSqlite:
    def make(self, *statements, name="x.db"):
        con = sqlite3.connect(name)
        for s in statements:
            con.execute(s)
        con.commit()
        con.close()
        return name

    def test_good(self):
        self.make("CREATE TABLE t (id INTEGER PRIMARY KEY, day DATE, amount DECIMAL(9,2), paid BOOLEAN, odd, photo BLOB, uid BLOB)",
                  f"INSERT INTO t VALUES (1, '2024-01-31', 1.5, 1, 7, x'{'00' * 80}', x'0a0b')",
                  "INSERT INTO t VALUES (2, NULL, 2, 0, '华北', NULL, NULL)",
                  'CREATE VIEW "the view" AS SELECT id * 2 AS twice FROM t', "CREATE TABLE none (a)")
        assert kind("x.db") == "sqlite"
        found, notes = dbfile.tables("x.db", "sqlite")
        assert [t.name for t in found] == ["t", "the view"]
        assert kept(found[0]) == [(1, "2024-01-31", 1.5, True, "7", "0a0b"), (2, None, 2.0, False, "华北", None)]
        assert codes(found[0].notes) == ["column_left_out"]
        assert kept(found[1]) == [(2,), (4,)]
        assert codes(notes) == ["table_empty"]

    def test_great_integers_keep_their_digits(self):
        self.make("CREATE TABLE t (a)", "INSERT INTO t VALUES (9007199254740993), (0.5)")
        assert kept(dbfile.tables("x.db", "sqlite")[0][0]) == [("9007199254740993",), ("0.5",)]

    def test_broken(self):
        self.make("CREATE TABLE t (a)", *["INSERT INTO t VALUES (hex(randomblob(500)))"] * 50)
        put("cut.db", held("x.db")[:300])
        assert refused(dbfile.tables, "cut.db", "sqlite").code == "BAD_FILE"
        data = bytearray(held("x.db"))
        data[4096:] = os.urandom(len(data) - 4096)
        put("rot.db", bytes(data))
        assert refused(dbfile.tables, "rot.db", "sqlite").code == "NO_TABLE"
        put("odd.db", held("x.db").replace(b"CREATE TABLE t", b"CREATE TABL\x9b t"))
        assert refused(dbfile.tables, "odd.db", "sqlite").code == "BAD_FILE"
        put("secret.db", os.urandom(8192).replace(b"SQLite", b"sqlite"))
        assert refused(kind, "secret.db").code in ("BAD_FILE", "UNSUPPORTED_FORMAT")

    def test_hostile_views_are_left_out_in_time(self, monkeypatch):
        monkeypatch.setattr(dbfile, "SECONDS", 1)
        self.make("CREATE TABLE t (a)", "INSERT INTO t VALUES (1)",
                  "CREATE VIEW endless AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
                  "CREATE VIEW huge AS SELECT hex(zeroblob(200000000)) AS h",
                  "CREATE VIEW code AS SELECT load_extension('x') AS c",
                  "CREATE VIEW gone AS SELECT * FROM nowhere")
        found, notes = dbfile.tables("x.db", "sqlite")
        assert [t.name for t in found] == ["t"]
        assert sorted(n["values"]["table"] for n in notes) == ["code", "endless", "gone", "huge"]
        assert all(n["level"] == "warn" for n in notes)
        assert any("more than 1 s" in n["text"] for n in notes)

    def test_many_tables_are_capped_aloud(self):
        self.make(*[f"CREATE TABLE t{i} AS SELECT 1 AS a" for i in range(55)])
        found, notes = dbfile.tables("x.db", "sqlite")
        assert len(found) == 50 and codes(notes) == ["tables_left_out"]

    def test_the_file_is_not_changed(self):
        self.make("CREATE TABLE t AS SELECT 1 AS a")
        before = held("x.db")
        kept(dbfile.tables("x.db", "sqlite")[0][0])
        assert held("x.db") == before and sorted(os.listdir(".")) == ["kept.parquet", "x.db"]


class TestDuckdb:
    def make(self, *statements, name="x.duckdb"):
        with duckdb.connect(name) as con:
            for s in statements:
                con.execute(s)
        return name

    def test_good(self):
        self.make("CREATE TABLE t AS SELECT 1 AS id, DATE '2024-01-31' AS day, 1.50::DECIMAL(9,2) AS m, 'a'::ENUM('a','b') AS e, "
                  "INTERVAL 1 DAY AS iv, '101'::BIT AS bits, 'ab'::BLOB AS raw", "CREATE VIEW v AS SELECT id + 1 AS next FROM t",
                  "CREATE SCHEMA s", "CREATE TABLE s.t AS SELECT 5 AS a")
        assert kind("x.duckdb") == "duckdb"
        found, notes = dbfile.tables("x.duckdb", "duckdb")
        got = {t.name: kept(t) for t in found}
        assert [str(v) for v in got["t"][0]] == ["1", "2024-01-31", "1.50", "a", "1 day", "101"]
        assert got["v"] == [(2,)] and got["s.t"] == [(5,)] and notes == []

    def test_broken(self):
        self.make("CREATE TABLE t AS SELECT range AS a FROM range(100000)")
        put("cut.duckdb", held("x.duckdb")[:5000])
        assert refused(dbfile.tables, "cut.duckdb", "duckdb").code in ("BAD_FILE", "UNSUPPORTED_FORMAT")

    def test_hostile_views(self, monkeypatch):
        monkeypatch.setattr(dbfile, "SECONDS", 1)
        put("secret.csv", "a,b\n1,2\n")
        self.make("CREATE TABLE t AS SELECT 1 AS a", "CREATE VIEW reads AS SELECT * FROM read_csv('secret.csv')",
                  "CREATE VIEW endless AS WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r")
        found, notes = dbfile.tables("x.duckdb", "duckdb")
        assert [t.name for t in found] == ["t"]
        assert sorted(n["values"]["table"] for n in notes) == ["endless", "reads"]
        assert kept(found[0]) == [(1,)]


class TestArrow:
    table = pa.table({"n": [1, None], "d": pa.array(["x", "y"]).dictionary_encode(), "t": pa.array([0, 1], pa.timestamp("ns")),
                      "u": pa.array([1, 2], pa.duration("s"))})

    def test_good(self):
        pyarrow.feather.write_feather(self.table, "x.feather")
        with pa.OSFile("x.arrows", "wb") as f, pyarrow.ipc.new_stream(f, self.table.schema) as out:
            out.write_table(self.table)
        for name in ("x.feather", "x.arrows"):
            assert kind(name) == "arrow"
            got = kept(arrowfile.arrow(name, "arrow")[0])
            assert got[0] == (1, "x", datetime.datetime(1970, 1, 1), "0:00:01") and got[1][0] is None

    def test_orc(self):
        pyarrow.orc.write_table(self.table.select(["n", "t"]), "x.orc")
        assert kind("x.orc") == "orc"
        assert kept(arrowfile.arrow("x.orc", "orc")[0])[0] == (1, datetime.datetime(1970, 1, 1))
        put("names.csv", "ORC,elf\n1,2\n")
        assert kind("names.csv") == "csv"

    def test_what_goes_wrong_while_rows_are_taken_is_told(self):
        def batches():
            yield pa.record_batch([pa.array([1])], names=["a"])
            raise TableError("BAD_FILE", "a page is damaged")

        reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), batches())
        assert refused(typed.write, reader, "k.parquet").message == "a page is damaged"

    def test_repeated_names_are_numbered(self):
        twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "A"])
        typed.write(twice, "k.parquet")
        assert pa.parquet.read_schema("k.parquet").names == ["a", "A_2"]

    def test_broken(self):
        pyarrow.feather.write_feather(self.table, "x.feather")
        pyarrow.orc.write_table(self.table.select(["n"]), "x.orc")
        put("cut.feather", held("x.feather")[:400])
        e = refused(arrowfile.arrow, "cut.feather", "arrow")
        assert e.code == "BAD_FILE" and "CSV" in e.hint
        whole = held("x.orc")
        put("cut.orc", whole[:10] + bytes(len(whole) - 30) + whole[-20:])
        assert refused(arrowfile.arrow, "cut.orc", "orc").code == "BAD_FILE"
        put("x.orc", "not at all")
        assert refused(kind, "x.orc").code == "BAD_FILE"

    def test_hostile(self, monkeypatch):
        words = pa.array(["ab", "cd"])
        with pa.OSFile("x.arrow", "wb") as f, pyarrow.ipc.new_file(f, pa.schema([("s", pa.string())])) as out:
            out.write_batch(pa.record_batch([words], names=["s"]))
        sane = held("x.arrow")
        at = sane.index(struct.pack("<iii", 0, 2, 4))
        put("x.arrow", sane[:at] + struct.pack("<iii", 0, 2, 90000) + sane[at + 12:])
        assert refused(arrowfile.arrow, "x.arrow", "arrow").code == "BAD_FILE"
        # Asking for the size of such a batch reads beyond its memory.
        with pa.OSFile("x.arrow", "wb") as f, pyarrow.ipc.new_file(f, pa.schema([("l", pa.list_(pa.string()))])) as out:
            out.write_batch(pa.record_batch([pa.array([["a", "b"], ["c", "d"]])], names=["l"]))
        sane = held("x.arrow")
        at = sane.index(struct.pack("<iii", 0, 2, 4))
        put("x.arrow", sane[:at] + struct.pack("<iii", 0, 2, 2**31 - 1) + sane[at + 12:])
        assert refused(arrowfile.arrow, "x.arrow", "arrow").code == "BAD_FILE"
        monkeypatch.setattr(arrowfile, "MAX_BYTES", 1 << 20)
        pyarrow.feather.write_feather(pa.table({"z": pa.array([0] * 2_000_000)}), "bomb.feather", compression="zstd")
        assert refused(arrowfile.arrow, "bomb.feather", "arrow").code == "TOO_LARGE"


class TestStata:
    frame = pd.DataFrame({"region": pd.Categorical(["North", "South", "North"]), "n": [1.0, None, 3.0], "m": [1.5, 2.0, 0.0],
                          "day": pd.to_datetime(["2024-01-31", "2024-02-01", None])})

    def test_good(self):
        self.frame.to_stata("x.dta", write_index=False, convert_dates={"day": "td"}, variable_labels={"n": "Number of shops"})
        assert kind("x.dta") == "stata"
        [table] = statfile.arrow("x.dta", "stata")
        assert kept(table) == [("North", 1, 1.5, datetime.date(2024, 1, 31)), ("South", None, 2.0, datetime.date(2024, 2, 1)), ("North", 3, 0.0, None)]
        assert codes(table.notes) == ["column_labels", "labels_applied"] and "Number of shops" in table.notes[0]["text"]

    def test_codes_among_numbers_stay_numbers_with_a_warning(self):
        pd.DataFrame({"age": [31, 42, 99]}).to_stata("x.dta", write_index=False, value_labels={"age": {99: "refused"}})
        [table] = statfile.arrow("x.dta", "stata")
        assert kept(table) == [(31,), (42,), (99,)]
        assert [(n["level"], n["column"]) for n in table.notes] == [("warn", "age")] and "99 = refused" in table.notes[0]["text"]

    def test_old_files(self):
        frame = pd.DataFrame({"s": ["ab", "cd"], "n": [1, 2]})
        frame.to_stata("x.dta", write_index=False, version=114)
        assert kind("x.dta") == "stata" and kept(statfile.arrow("x.dta", "stata")[0]) == [("ab", 1), ("cd", 2)]
        put("x.dta", held("x.dta").replace(b"ab", "华".encode("gbk")).replace(b"cd", "东".encode("gbk")))
        [table] = statfile.arrow("x.dta", "stata")
        assert kept(table) == [("华", 1), ("东", 2)] and codes(table.notes) == ["encoding_guessed"]

    def test_broken_and_hostile(self):
        self.frame.to_stata("x.dta", write_index=False, version=118)
        whole = held("x.dta")
        put("cut.dta", whole[:200])
        e = refused(statfile.arrow, "cut.dta", "stata")
        assert e.code == "BAD_FILE" and "CSV" in e.hint
        at = whole.index(b"<N>") + 3
        put("many.dta", whole[:at] + struct.pack("<Q", 2**60) + whole[at + 8:])
        assert refused(statfile.arrow, "many.dta", "stata").code == "BAD_FILE"
        put("x.dta", "a,b\n1,2\n")
        assert refused(kind, "x.dta").code == "BAD_FILE"


class TestSpss:
    def test_good(self):
        pyreadstat = pytest.importorskip("pyreadstat")
        frame = pd.DataFrame({"sex": [1.0, 2.0, 1.0], "age": [31.0, 42.0, 99.0], "name": ["李", "b", ""]})
        pyreadstat.write_sav(frame, "x.sav", column_labels=["Sex", "Age in years", ""],
                             variable_value_labels={"sex": {1.0: "male", 2.0: "female"}, "age": {99.0: "refused"}})
        assert kind("x.sav") == "spss"
        [table] = statfile.arrow("x.sav", "spss")
        assert kept(table) == [("male", 31, "李"), ("female", 42, "b"), ("male", 99, None)]
        assert codes(table.notes) == ["column_labels", "labels_applied", "labelled_values"]

    def test_broken_and_hostile(self):
        pytest.importorskip("pyreadstat")
        put("x.sav", b"$FL2@(#) SPSS DATA FILE" + bytes(30))
        assert refused(statfile.arrow, "x.sav", "spss").code == "BAD_FILE"
        put("x.sav", b"$FL2@(#)" + b"\xff" * 5000)
        assert refused(statfile.arrow, "x.sav", "spss").code == "BAD_FILE"

    def test_without_its_library_the_next_step_is_named(self, monkeypatch):
        monkeypatch.setattr(statfile.importlib.util, "find_spec", lambda name: None)
        put("x.sav", b"$FL2@(#)")
        e = refused(statfile.arrow, "x.sav", "spss")
        assert e.code == "UNSUPPORTED_FORMAT" and "CSV" in e.hint


class TestSas:
    def test_data_set(self):
        put("x.sas7bdat", sas7bdat([("华北", 12.5), ("Rome", float("nan")), ("Oslo", 7)]))
        assert kind("x.sas7bdat") == "sas"
        [table] = statfile.arrow("x.sas7bdat", "sas")
        assert table.data.column_names == ["city", "n"]
        assert kept(table) == [("华北", 12.5), ("Rome", None), ("Oslo", 7.0)]
        assert table.notes[0]["values"] == {"labels": {"n": "how many"}}

    def test_more_rows_than_bytes(self):
        put("x.sas7bdat", sas7bdat([("Bonn", 1)], claimed=2_000_000_000))
        e = refused(statfile.arrow, "x.sas7bdat", "sas")
        assert e.code == "BAD_FILE" and "2000000000 rows" in e.message

    def test_transport(self):
        put("x.xpt", xport([(b"Bonn", 12.5), ("华北".encode("gbk"), None), (b"Rome", 0), (b"Oslo", -3), (b"Kyiv", 7)]))
        assert kind("x.xpt") == "xport"
        assert kept(statfile.arrow("x.xpt", "xport")[0]) == [("Bonn", 12.5), ("华北", None), ("Rome", 0.0), ("Oslo", -3.0), ("Kyiv", 7.0)]

    def test_several_data_sets_are_not_read_as_one(self):
        put("x.xpt", xport([(b"Bonn", 1)] * 5, sets=2))
        e = refused(statfile.arrow, "x.xpt", "xport")
        assert e.code == "SEVERAL_TABLES" and e.hint

    def test_broken_and_hostile(self):
        put("x.xpt", xport([(b"Bonn", 1)] * 5)[:500])
        assert refused(statfile.arrow, "x.xpt", "xport").code == "BAD_FILE"
        put("x.xpt", xport([(b"Bonn", 1)] * 5).replace(b"0000000002000", b"0999999999000"))
        assert refused(statfile.arrow, "x.xpt", "xport").code == "BAD_FILE"

    def test_broken_data_set(self):
        put("x.sas7bdat", signatures.SAS + bytes(300))
        assert kind("x.sas7bdat") == "sas" and refused(statfile.arrow, "x.sas7bdat", "sas").code == "BAD_FILE"
        put("x.sas7bdat", signatures.SAS + os.urandom(70000))
        assert refused(statfile.arrow, "x.sas7bdat", "sas").code == "BAD_FILE"
