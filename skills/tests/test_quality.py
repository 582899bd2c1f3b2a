"""Every planted fault is found; a clean table raises none."""

import unittest

import numpy as np
import pandas as pd
from support import script

quality = script("data-quality-report", "quality")


def clean_table():
    rng = np.random.default_rng(4)
    days = pd.date_range("2024-01-01", periods=200, freq="D")
    return pd.DataFrame({"id": range(200), "date": days, "region": rng.choice(["华东", "华南", "华北"], 200), "amount": rng.lognormal(5, 0.5, 200).round(2), "units": rng.integers(1, 20, 200)})


class Quality(unittest.TestCase):
    def found(self, frame, **options):
        issues = quality.check(frame, today="2025-01-01", **options)
        return set(zip(issues["列"], issues["问题"])), issues

    def test_a_clean_table_has_no_issues(self):
        pairs, issues = self.found(clean_table(), keys="id")
        self.assertEqual(pairs, set())
        self.assertEqual(quality.score(issues, 200), 100)

    def test_planted_faults_are_all_found(self):
        frame = clean_table()
        frame["amount"] = frame["amount"].astype(object)
        frame.loc[3, "amount"] = "1,234.50"
        frame["amount"] = frame["amount"].astype(str)
        frame.loc[7, "amount"] = "待定"
        frame.loc[5, "units"] = -3
        frame.loc[6, "units"] = 500000
        frame["region"] = frame["region"].astype(object)
        frame.loc[[10, 11], "region"] = "华东 "
        frame.loc[12, "region"] = "合计"
        frame.loc[13, "region"] = "N/A"
        frame.loc[20, "date"] = pd.Timestamp("2031-05-05")
        frame.loc[21, "date"] = pd.Timestamp("1900-01-01")
        frame.loc[30, "id"] = 29
        frame["empty"] = np.nan
        frame = pd.concat([frame, frame.iloc[[50]]], ignore_index=True)
        pairs, issues = self.found(frame, keys="id")
        for expected in [
            ("（整表）", "完全重复的行"), ("id", "主键重复但内容不同"), ("region", "混入合计行，求和会翻倍"), ("region", "用文字表示的缺失"),
            ("region", "首尾有空格"), ("region", "同一取值有多种写法"), ("amount", "数字存成了文本，且混有非数字"), ("units", "少数负值（退款或错误？）"),
            ("units", "数量级异常（单位错误？）"), ("date", "未来的日期"), ("date", "过早的日期（1900 等默认值？）"), ("empty", "整列为空"),
        ]:
            self.assertIn(expected, pairs)
        self.assertEqual(issues["严重度"].iloc[0], "高")
        self.assertLess(quality.score(issues, len(frame)), 60)

    def test_gaps_broken_dates_and_truncation(self):
        frame = clean_table().drop(index=range(60, 90)).reset_index(drop=True)
        self.assertIn(("date", "日期有断档"), self.found(frame)[0])
        text = pd.DataFrame({"d": ["2024-01-01", "2024-02-30", "2024/3/5"]})
        self.assertIn(("d", "不是有效日期"), self.found(text, dates=["d"])[0])
        cut = pd.DataFrame({"x": range(10000), "y": range(10000)})
        self.assertIn(("（整表）", "行数正好是 常见导出上限，可能被截断"), self.found(cut)[0])

    def test_numbers_as_people_write_them(self):
        for text, value in [("1,234.5", 1234.5), ("￥12", 12), ("(300)", -300), ("15%", 0.15), ("１２", 12), ("abc", None), ("nan", None), ("", None)]:
            self.assertEqual(quality.as_number(text), value, text)

    def test_profile(self):
        table = quality.profile(clean_table()).set_index("列")
        self.assertEqual(table.loc["region", "唯一值"], 3)
        self.assertEqual(table.loc["id", "最大"], 199)


if __name__ == "__main__":
    unittest.main()
