"""A small cohort by hand, and Freireich's leukaemia data for the survival curve."""

import math
import unittest

import numpy as np
import pandas as pd
from support import script

cohort = script("cohort-retention", "cohort")

# 6-MP arm of Freireich et al. (1963): weeks, and whether the relapse was seen.
WEEKS = [6, 6, 6, 7, 10, 13, 16, 22, 23, 6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]
SEEN = [True] * 9 + [False] * 12


class Cohorts(unittest.TestCase):
    def setUp(self):
        rows = [("a", "2024-01-02"), ("a", "2024-02-03"), ("a", "2024-03-01"), ("b", "2024-01-09"), ("b", "2024-01-30"),
                ("b", "2024-03-09"), ("c", "2024-02-01"), ("d", "2024-02-11"), ("d", "2024-03-11"), ("e", "2024-03-05")]
        self.counts = cohort.cohort_table(pd.DataFrame(rows, columns=["u", "d"]), "u", "d")

    def test_counts_by_hand(self):
        self.assertEqual([str(c) for c in self.counts.index], ["2024-01", "2024-02", "2024-03"])
        np.testing.assert_array_equal(self.counts.to_numpy(), [[2, 1, 2], [2, 1, np.nan], [1, np.nan, np.nan]])

    def test_a_period_that_has_not_come_is_not_zero(self):
        rates = cohort.retention(self.counts)
        self.assertEqual(rates.loc["2024-01", 1], 0.5)
        self.assertTrue(math.isnan(rates.loc["2024-03", 1]))

    def test_the_average_is_weighted_by_users_who_got_there(self):
        curve = cohort.retention_curve(self.counts)
        self.assertEqual(list(curve["到期用户"]), [5, 4, 2])
        self.assertEqual(list(curve["留存率"]), [1.0, 0.5, 1.0])

    def test_as_of_cuts_an_unfinished_period(self):
        frame = pd.DataFrame({"u": ["a", "a", "b"], "d": ["2024-01-01", "2024-03-01", "2024-02-01"]})
        cut = cohort.cohort_table(frame, "u", "d", as_of="2024-02-29")
        self.assertEqual(list(cut.columns), [0, 1])


class Survival(unittest.TestCase):
    def test_freireich(self):
        curve = cohort.kaplan_meier(WEEKS, SEEN).set_index("时长")
        for week, expected in [(6, 0.857), (7, 0.807), (10, 0.753), (13, 0.690), (16, 0.627), (22, 0.538), (23, 0.448)]:
            self.assertAlmostEqual(curve.loc[week, "存活率"], expected, places=3)
        self.assertAlmostEqual(curve.loc[6, "标准误"], 0.0764, places=4)
        self.assertEqual(cohort.median_lifetime(curve.reset_index()), 23)

    def test_against_statsmodels(self):
        from statsmodels.duration.survfunc import SurvfuncRight

        reference = SurvfuncRight(np.array(WEEKS, dtype=float), np.array(SEEN, dtype=int))
        curve = cohort.kaplan_meier(WEEKS, SEEN)
        np.testing.assert_allclose(curve["存活率"], reference.surv_prob)
        np.testing.assert_allclose(curve["标准误"], reference.surv_prob_se)

    def test_dropping_the_censored_is_wrong(self):
        naive = np.mean([w > 10 for w, seen in zip(WEEKS, SEEN) if seen])
        right = cohort.kaplan_meier(WEEKS, SEEN).set_index("时长").loc[10, "存活率"]
        self.assertLess(naive, right - 0.2)
        self.assertTrue(math.isnan(cohort.median_lifetime(cohort.kaplan_meier([5, 9, 9], [True, False, False]))))


if __name__ == "__main__":
    unittest.main()
