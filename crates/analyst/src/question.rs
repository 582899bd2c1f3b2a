//! A question, understood: what is measured, by what, for which rows. The vocabulary shared by reading, planning
//! and reporting; holds no rules.

use crate::lex::ColRef;
use crate::timex::Days;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Agg {
    Sum,
    Mean,
    Median,
    Max,
    Min,
    Distinct,
    StdDev,
    Variance,
    /// Between 0 and 1.
    Percentile(f64),
}

/// One figure to compute over a set of rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Measure {
    Rows,
    Of(Agg, ColRef),
    /// How many rows say yes.
    CountYes(ColRef),
    /// Which part of the rows says yes.
    RateYes(ColRef),
    /// Which part of the rows has a value.
    RateIs {
        column: ColRef,
        value: String,
    },
    /// The sum over the rows of one column with another.
    Formula {
        op: Op,
        left: ColRef,
        right: ColRef,
    },
    /// One sum or count over another; the index is the concept's in the glossary, [`PER`] or [`PART`].
    Ratio {
        concept: usize,
        numerator: Box<Measure>,
        denominator: Box<Measure>,
    },
}

/// What is done with two columns, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Minus,
    Times,
}

impl Op {
    pub fn sign(self) -> char {
        match self {
            Op::Minus => '-',
            Op::Times => '*',
        }
    }
}

/// A ratio of two columns: one per unit of the other.
pub const PER: usize = usize::MAX;
/// A ratio of two columns: one is a part of the other.
pub const PART: usize = usize::MAX - 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grain {
    Hour,
    Day,
    Weekday,
    Week,
    Month,
    Quarter,
    Year,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    By(ColRef),
    Time(ColRef, Grain),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cmp {
    Gt,
    Ge,
    Lt,
    Le,
    Eq,
}

impl Cmp {
    pub fn sql(self) -> &'static str {
        match self {
            Cmp::Gt => ">",
            Cmp::Ge => ">=",
            Cmp::Lt => "<",
            Cmp::Le => "<=",
            Cmp::Eq => "=",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    In {
        column: ColRef,
        values: Vec<String>,
        negated: bool,
    },
    Number {
        column: ColRef,
        cmp: Cmp,
        value: f64,
    },
    /// Rows without a value.
    Empty {
        column: ColRef,
    },
    /// Rows with one.
    Filled {
        column: ColRef,
    },
    /// One column against another, row by row.
    Columns {
        left: ColRef,
        cmp: Cmp,
        right: ColRef,
    },
    Days {
        column: ColRef,
        days: Days,
    },
    Yes {
        column: ColRef,
        yes: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Descending,
    Ascending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartKind {
    Line,
    Bar,
    Pie,
    Scatter,
    Box,
    /// The table is enough.
    None,
}

/// What is compared with what in a question about growth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    PreviousPeriod,
    YearBefore,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Intent {
    /// Figures over all chosen rows.
    Value,
    /// Figures by group.
    Breakdown,
    /// Groups, best or worst first.
    Rank,
    /// Figures along time.
    Trend,
    /// Running total along time.
    Cumulative,
    /// Average of the last `n` periods along time.
    Moving(usize),
    /// The mean over periods of the figure of one period.
    MeanPer(Grain),
    /// Growth of each period of a series.
    GrowthSeries(Against),
    /// Two stretches of time side by side, in total or by group.
    Change {
        before: Days,
        after: Days,
        date: ColRef,
        /// Only listed: what they come to together is worth a word.
        together: bool,
    },
    /// How many were seen for the first time, in all or by period.
    FirstSeen {
        entity: ColRef,
        date: ColRef,
    },
    /// Each group's part of the whole.
    Share,
    /// The part of the filtered rows in the whole; `parts` are the filters that make the part.
    ShareOf {
        parts: Vec<Filter>,
    },
    Distribution,
    Correlation,
    Outliers,
    /// The fewest groups that make up this part of the whole.
    Pareto {
        part: f64,
    },
    Cohort {
        entity: ColRef,
        date: ColRef,
    },
    Funnel {
        steps: Vec<ColRef>,
    },
    Forecast {
        periods: usize,
        /// A straight line, whatever the seasons.
        linear: bool,
        /// Only the last of these months is asked for.
        last: bool,
    },
    Missing,
    /// Values of a column that several rows have, or only one.
    Repeats {
        column: ColRef,
        once: bool,
    },
    Duplicates,
    Describe,
    Columns,
    Preview,
    /// The rows themselves.
    Rows,
    /// The row with the largest or smallest figure.
    ExtremeRow {
        /// The row was asked for by name: `which film`, `who`.
        named: bool,
    },
}

/// A join of another table to the main one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Join {
    pub table: usize,
    pub left: ColRef,
    pub right: ColRef,
}

/// A choice the reader made that the user should know of.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// Of several columns this one was taken.
    Column {
        said: String,
        taken: ColRef,
        other: ColRef,
    },
    /// A word was taken for this column although the name does not say so.
    ReadAs {
        said: String,
        taken: ColRef,
    },
    /// No measure was named.
    DefaultMeasure(Measure),
    /// Sum or mean was not said.
    DefaultAgg(Agg, ColRef),
    /// Times count from the last day in the data.
    Relative {
        last: String,
        label: String,
    },
    AssumedYear {
        label: String,
    },
    DateColumn {
        taken: ColRef,
        other: ColRef,
    },
    Spelling {
        written: String,
        read: String,
    },
    Table {
        taken: usize,
    },
    Joined {
        table: usize,
        key: ColRef,
    },
    FollowUp,
    /// Words that were left out of account.
    Ignored(String),
    PerGroup,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub table: usize,
    pub joins: Vec<Join>,
    pub intent: Intent,
    pub measures: Vec<Measure>,
    pub groups: Vec<Group>,
    pub filters: Vec<Filter>,
    pub having: Option<(Cmp, f64)>,
    pub order: Order,
    pub limit: Option<usize>,
    pub chart: Option<ChartKind>,
    pub date: Option<ColRef>,
    pub notes: Vec<Note>,
}

/// Why a question is not answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    Beyond(crate::word::Beyond),
    /// Words with no meaning in these tables.
    Unknown(Vec<String>),
    /// A business concept no column stands for.
    NoColumn(String),
    NoDate,
    NoTable,
    /// The time asked for lies outside the data.
    OutsideDates {
        asked: String,
        first: String,
        last: String,
    },
    /// A forecast further than the data carries.
    TooFar {
        months: usize,
    },
    /// The database's SQL cannot say it, and the table is too large to be copied.
    TooMuchToCopy,
    /// Two numbers are needed.
    NeedsTwoMeasures,
    NoJoin {
        first: usize,
        second: usize,
    },
    /// Too much to read at once.
    TooLong,
    /// Nothing to compute was recognised.
    NothingAsked,
    /// No figure of the tables answers to what was asked.
    NotInTables,
}
