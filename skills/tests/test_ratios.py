"""Ratios by hand, DuPont's identity, Altman's coefficients, and everything that must not be computed."""

import unittest

from support import script

ratios = script("financial-ratios", "ratios")

NOW = {
    "revenue": 1000.0, "cogs": 600.0, "ebit": 150.0, "interest": 30.0, "net_income": 90.0, "total_assets": 1200.0,
    "current_assets": 500.0, "cash": 100.0, "receivables": 120.0, "inventory": 180.0, "total_liabilities": 700.0,
    "current_liabilities": 250.0, "payables": 90.0, "equity": 500.0, "retained_earnings": 200.0, "market_value": 900.0,
    "operating_cash_flow": 110.0, "capex": 60.0,
}
BEFORE = {"total_assets": 1000.0, "equity": 400.0, "receivables": 80.0, "inventory": 120.0, "payables": 60.0}


class Ratios(unittest.TestCase):
    def test_by_hand(self):
        r = ratios.ratios(NOW)
        for name, expected in [("流动比率", 2.0), ("速动比率", 1.28), ("现金比率", 0.4), ("资产负债率", 7 / 12), ("利息保障倍数", 5.0),
                               ("毛利率", 0.4), ("净利率", 0.09), ("ROE", 0.18), ("应收账款周转天数", 43.8), ("存货周转天数", 109.5),
                               ("应付账款周转天数", 54.75), ("现金转换周期", 98.55), ("净现比", 110 / 90), ("自由现金流", 50)]:
            self.assertAlmostEqual(r[name], expected, msg=name)
        self.assertEqual(r["口径"], "期末余额")

    def test_averages_with_last_year(self):
        r = ratios.ratios(NOW, BEFORE)
        self.assertAlmostEqual(r["ROE"], 90 / 450)
        self.assertAlmostEqual(r["应收账款周转天数"], 36.5)
        self.assertEqual(r["口径"], "平均余额")

    def test_dupont_is_an_identity(self):
        for before in (None, BEFORE):
            d = ratios.dupont(NOW, before)
            self.assertAlmostEqual(d["净利率"] * d["总资产周转率"] * d["权益乘数"], d["ROE"])

    def test_altman(self):
        z = ratios.altman_z(NOW)
        expected = 1.2 * 250 / 1200 + 1.4 * 200 / 1200 + 3.3 * 150 / 1200 + 0.6 * 900 / 700 + 0.999 * 1000 / 1200
        self.assertAlmostEqual(z["Z"], expected)
        self.assertEqual(z["判断"], "灰色地带")
        self.assertIsNone(ratios.altman_z({k: v for k, v in NOW.items() if k != "market_value"}))

    def test_what_cannot_be_computed_is_not(self):
        r = ratios.ratios({"revenue": 0.0, "net_income": -5.0, "equity": -100.0, "total_assets": 50.0})
        self.assertIsNone(r["净利率"])
        self.assertIsNone(r["ROE"], "negative equity has no return")
        self.assertIsNone(r["流动比率"])
        self.assertIsNone(ratios.break_even(100, 5, 5))

    def test_statements_that_do_not_add_up_are_told(self):
        self.assertEqual(ratios.check(NOW), [])
        wrong = NOW | {"equity": 400.0, "cash": 900.0, "gross_profit": 300.0, "profit": 1.0}
        self.assertEqual(len(ratios.check(wrong)), 4)

    def test_break_even_textbook(self):
        found = ratios.break_even(50000, 50, 30)
        self.assertEqual((found["销量"], found["销售额"], found["边际贡献率"]), (2500, 125000, 0.4))


if __name__ == "__main__":
    unittest.main()
