"""Iglewicz & Hoaglin's modified z-scores, Tukey's fences, Montgomery's CUSUM table, and planted anomalies."""

import unittest

import numpy as np
import pandas as pd
from support import script

anomaly = script("anomaly-detection", "anomaly")

# Montgomery, Introduction to Statistical Quality Control, table 9.1.
MONTGOMERY = [
    9.45, 7.99, 9.29, 11.66, 12.16, 10.18, 8.04, 11.46, 9.20, 10.34, 9.03, 11.47, 10.51, 9.40, 10.08, 9.37, 10.62,
    10.31, 8.52, 10.84, 10.90, 9.33, 12.29, 11.50, 10.60, 11.08, 10.38, 11.62, 11.31, 10.52,
]


class Outliers(unittest.TestCase):
    def test_modified_z_by_hand(self):
        z = anomaly.robust_z([2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3])
        self.assertAlmostEqual(z[8], 0.6745 * 5.75 / 0.15, places=6)
        self.assertEqual(list(np.where(np.abs(z) > 3.5)[0]), [8, 9])

    def test_one_spike_among_equal_values_is_found(self):
        z = anomaly.robust_z([5] * 20 + [50])
        self.assertGreater(z[-1], 3.5)
        self.assertEqual(list(anomaly.robust_z([3, 3, 3])), [0, 0, 0])

    def test_tukey_fences(self):
        low, high = anomaly.iqr_fences([1, 2, 3, 4, 5, 6, 7, 8, 9])
        self.assertEqual((low, high), (3 - 6, 7 + 6))

    def test_planted_anomalies_are_found_and_no_others(self):
        rng = np.random.default_rng(11)
        t = np.arange(140)
        x = 1000 + 3 * t + 200 * np.sin(2 * np.pi * t / 7) + rng.normal(scale=15, size=140)
        x[50] += 300
        x[101] -= 250
        found = anomaly.seasonal_anomalies(pd.Series(x), 7)
        self.assertEqual(set(found["z"].abs().nlargest(2).index), {50, 101})
        self.assertTrue(found.loc[[50, 101], "异常"].all())
        self.assertLessEqual(found["异常"].sum(), 3)
        # The same points are invisible without removing the season.
        self.assertFalse((np.abs(anomaly.robust_z(x)) > 3.5).any())
        with self.assertRaises(ValueError):
            anomaly.seasonal_anomalies(pd.Series(x[:10]), 7)

    def test_quiet_series_raise_few_alarms(self):
        t, alarms = np.arange(140), 0
        for seed in range(20):
            noise = np.random.default_rng(seed).normal(scale=15, size=140)
            series = pd.Series(1000 + 3 * t + 200 * np.sin(2 * np.pi * t / 7) + noise)
            alarms += int(anomaly.seasonal_anomalies(series, 7)["异常"].sum())
        self.assertLess(alarms / (20 * 140), 0.01)

    def test_montgomery_cusum(self):
        table = anomaly.cusum(MONTGOMERY, target=10, sd=1)
        self.assertEqual(list(table.index[table["报警"]]), [28, 29])
        self.assertAlmostEqual(table["C+"].iloc[28], 5.28, places=2)
        self.assertEqual(table["N+"].iloc[28], 7)
        self.assertAlmostEqual(table["C-"].iloc[1], 1.56, places=2)

    def test_concentration(self):
        frame = pd.DataFrame({"region": ["A"] * 90 + ["B"] * 10, "channel": ["x", "y"] * 50})
        bad = pd.Series([False] * 90 + [True] * 10)
        top = anomaly.explain(frame, bad, ["region", "channel"]).iloc[0]
        self.assertEqual((top["维度"], top["取值"]), ("region", "B"))
        self.assertAlmostEqual(top["倍数"], 10)


if __name__ == "__main__":
    unittest.main()
