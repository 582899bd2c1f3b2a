//! The words that steer a question, whatever the language. The glossary says how each is written.

use crate::question::{Agg, Grain};

macro_rules! lists {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $list:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($variant),+ }

        impl $name {
            /// The member a glossary list is about.
            pub fn from_list(list: &str) -> Option<Self> {
                match list {
                    $($list => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

lists! {
    /// What a word asks for.
    Word {
        Sum = "sum",
        Mean = "mean",
        Median = "median",
        Max = "max",
        Earliest = "earliest",
        Latest = "latest",
        Min = "min",
        Count = "count",
        CountSuffix = "count_suffix",
        Distinct = "distinct",
        Stddev = "stddev",
        Variance = "variance",
        Range = "range",
        HowMany = "how_many",
        HowMuch = "how_much",
        Which = "which",
        Who = "who",
        Top = "top",
        Bottom = "bottom",
        Highest = "highest",
        BestSelling = "best_selling",
        Lowest = "lowest",
        WorstSelling = "worst_selling",
        MostCommon = "most_common",
        Rank = "rank",
        Ascending = "ascending",
        Descending = "descending",
        By = "by",
        Day = "day",
        Week = "week",
        Month = "month",
        Quarter = "quarter",
        Year = "year",
        Weekday = "weekday",
        Hour = "hour",
        Trend = "trend",
        Growth = "growth",
        Yoy = "yoy",
        Mom = "mom",
        Fastest = "fastest",
        Slowest = "slowest",
        Share = "share",
        Rate = "rate",
        Distribution = "distribution",
        Correlation = "correlation",
        Outlier = "outlier",
        Pareto = "pareto",
        Cohort = "cohort",
        Funnel = "funnel",
        Forecast = "forecast",
        Linear = "linear",
        Missing = "missing",
        Duplicates = "duplicates",
        Describe = "describe",
        Columns = "columns",
        Preview = "preview",
        Rows = "rows",
        List = "list",
        Compare = "compare",
        Divided = "divided",
        Exclude = "exclude",
        Only = "only",
        Gt = "gt",
        Ge = "ge",
        Lt = "lt",
        Le = "le",
        Equal = "equal",
        Between = "between",
        And = "and",
        To = "to",
        Instead = "instead",
        WhatAbout = "what_about",
        ChartLine = "chart_line",
        ChartBar = "chart_bar",
        ChartPie = "chart_pie",
        ChartScatter = "chart_scatter",
        ChartBox = "chart_box",
        ChartTable = "chart_table",
        Chart = "chart",
        Cumulative = "cumulative",
        Moving = "moving",
        Percentile = "percentile",
        Next = "next",
        Sell = "sell",
        Spend = "spend",
        Earn = "earn",
        RateOfTrue = "rate_of_true",
        TrueOf = "true_of",
        NoStock = "no_stock",
        Busiest = "busiest",
        Repeated = "repeated",
        Once = "once",
    }
}

lists! {
    /// Questions beyond the analyst's reach, by kind.
    Beyond {
        Cause = "cause",
        Advice = "advice",
        Outside = "outside",
        Chat = "chat",
        Write = "write",
        ChangeData = "change_data",
        Judgement = "judgement",
    }
}

impl Word {
    /// The aggregate a word asks for.
    pub fn agg(self) -> Option<Agg> {
        Some(match self {
            Self::Sum => Agg::Sum,
            Self::Mean => Agg::Mean,
            Self::Median => Agg::Median,
            Self::Max => Agg::Max,
            Self::Min => Agg::Min,
            Self::Stddev => Agg::StdDev,
            Self::Variance => Agg::Variance,
            _ => return None,
        })
    }

    /// The period a word groups by.
    pub fn grain(self) -> Option<Grain> {
        Some(match self {
            Self::Hour => Grain::Hour,
            Self::Day => Grain::Day,
            Self::Week => Grain::Week,
            Self::Weekday => Grain::Weekday,
            Self::Month => Grain::Month,
            Self::Quarter => Grain::Quarter,
            Self::Year => Grain::Year,
            _ => return None,
        })
    }
}
