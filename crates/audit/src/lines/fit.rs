//! Whether one formula over a sheet gives the figures of a line. A formula is believed when it misses at most one of them
//! and the digits that agree are too many for chance.

use super::collect::Line;
use super::formula::{self, Formula, Shape};
use super::sheet::{Of, Scope, Sheet};
use crate::bind::Bound;
use crate::figures::Figure;
use crate::number::Unit;
use crate::scope::Page;
use crate::verdict::{Operand, Proof};

/// Rows summed for one figure.
const MAX_ROWS: usize = 400;
const SHOWN: usize = 12;

/// A formula and what it says of each member of the line.
#[derive(Debug)]
pub struct Fit {
    /// The table it is over; none when it is over what the report shows.
    pub table: Option<usize>,
    pub formula: Formula,
    pub members: Vec<Member>,
    pub missed: usize,
    agreed: usize,
}

#[derive(Debug, Clone)]
pub struct Member {
    pub figure: usize,
    pub scope: Scope,
    /// Its row is known by a label.
    pub keyed: bool,
    pub fits: bool,
    /// What the formula gives, in the figure's units.
    pub value: f64,
    /// The figures it is made of, when the report shows them.
    made_of: Vec<usize>,
}

/// Tries all formulas of a table on a line.
pub fn over_table(
    page: &Page<'_>,
    figures: &[Figure],
    bound: &[Bound],
    line: &Line,
    table: usize,
) -> Option<Fit> {
    let scope = |figure: usize| {
        let rows = bound[figure].seen.rows.iter().find(|(t, _)| *t == table).map(|(_, rows)| rows);
        rows.filter(|r| r.len() <= MAX_ROWS).map_or(Scope::Whole, |r| Scope::Rows(r.clone()))
    };
    let mut members: Vec<(Member, usize)> = line
        .members
        .iter()
        .map(|(figure, place)| {
            let scope = scope(*figure);
            let keyed = matches!(&scope, Scope::Rows(r) if !r.is_empty());
            (Member::new(*figure, scope, keyed), *place)
        })
        .collect();
    let unit = tidy(figures, line, &mut members)?;
    // Said of more rows than the others, a figure is their sum or something else altogether.
    let size = |m: &Member| if let Scope::Rows(rows) = &m.scope { rows.len() } else { 0 };
    let usual = common(members.iter().filter(|(m, _)| m.keyed).map(|(m, _)| size(m)))?;
    members.iter_mut().for_each(|(m, _)| m.keyed &= size(m) == usual);
    if members.iter().filter(|(m, _)| m.keyed).count() < 2 || is_one_row(&members) {
        return None;
    }
    let places: Vec<Scope> = line.group.iter().map(|f| scope(*f)).collect();
    let by_place = Sheet::of_table(page, table, &places);
    // A member may be said of other rows than its place, as where the header names a month.
    let own: Vec<Scope> = members.iter().map(|(m, _)| m.scope.clone()).collect();
    let mut sheet = Sheet::of_table(page, table, &own);
    for (column, placed) in sheet.columns.iter_mut().zip(&by_place.columns) {
        for (i, (member, place)) in members.iter().enumerate() {
            if places.get(*place) == Some(&member.scope) {
                column.around[i] = placed.around[*place];
            }
        }
    }
    let members: Vec<Member> = members.into_iter().map(|(m, _)| m).collect();
    let places = (0..members.len()).collect();
    Search { page, figures, bound, line, unit, sheet: &sheet, members: &members, places }.best(Some(table))
}

/// Tries all formulas over what the report shows in other lines of the group.
pub fn over_report(
    page: &Page<'_>,
    figures: &[Figure],
    bound: &[Bound],
    line: &Line,
    others: &[&Line],
) -> Option<Fit> {
    let mut members: Vec<(Member, usize)> =
        line.members.iter().map(|(f, place)| (Member::new(*f, Scope::Whole, true), *place)).collect();
    let unit = tidy(figures, line, &mut members)?;
    if members.len() < 2 {
        return None;
    }
    let sheet = Sheet::of_report(figures, bound, others, line.group.len());
    let places = members.iter().map(|(_, p)| *p).collect();
    let members: Vec<Member> = members.into_iter().map(|(m, _)| m).collect();
    Search { page, figures, bound, line, unit, sheet: &sheet, members: &members, places }.best(None)
}

impl Member {
    fn new(figure: usize, scope: Scope, keyed: bool) -> Self {
        Self { figure, scope, keyed, fits: false, value: 0.0, made_of: Vec::new() }
    }
}

/// One member for each place, all of one unit where the line need not be; the unit most have.
fn tidy(figures: &[Figure], line: &Line, members: &mut Vec<(Member, usize)>) -> Option<Unit> {
    members.dedup_by(|a, b| a.1 == b.1);
    let unit = common(members.iter().map(|(m, _)| figures[m.figure].number.unit))?;
    members.retain(|(m, _)| line.uniform || figures[m.figure].number.unit == unit);
    Some(unit)
}

/// What most of them are, the first where there are several.
fn common<T: PartialEq>(all: impl Iterator<Item = T> + Clone) -> Option<T> {
    let mut best: Option<(usize, T)> = None;
    for one in all.clone().take(8) {
        let count = all.clone().take(200).filter(|other| *other == one).count();
        if best.as_ref().is_none_or(|(most, _)| count > *most) {
            best = Some((count, one));
        }
    }
    best.map(|(_, one)| one)
}

fn is_one_row(members: &[(Member, usize)]) -> bool {
    let mut keyed = members.iter().filter(|(m, _)| m.keyed);
    let Some((first, _)) = keyed.next() else { return true };
    keyed.all(|(m, _)| m.scope == first.scope)
}

struct Search<'a, 'p> {
    page: &'a Page<'p>,
    figures: &'a [Figure],
    bound: &'a [Bound],
    line: &'a Line,
    unit: Unit,
    sheet: &'a Sheet,
    members: &'a [Member],
    /// Where in the sheet each member is.
    places: Vec<usize>,
}

impl Search<'_, '_> {
    fn best(&self, table: Option<usize>) -> Option<Fit> {
        let mut best: Option<(usize, usize, Formula)> = None;
        let columns: Vec<usize> = (0..self.sheet.columns.len()).collect();
        let factors = Factors::of(self);
        formula::all(&columns, |shape, columns| {
            // A simpler one that misses nothing is not bettered.
            if best.is_some_and(|(missed, ..)| missed == 0) || self.is_forbidden(shape, columns[0], table) {
                return;
            }
            for (factor, dearer) in factors.for_shape(shape, &self.sheet.columns[columns[0]]) {
                let Some((missed, agreed, digits)) = self.count(shape, columns, *factor) else { continue };
                let enough = digits >= shape.needs() + dearer;
                let better = best.is_none_or(|(m, a, ..)| missed < m || (missed == m && agreed > a));
                if enough && better {
                    best = Some((missed, agreed, Formula { shape, columns, factor: *factor }));
                }
            }
        });
        let (missed, agreed, formula) = best?;
        let members = (0..self.members.len()).map(|i| self.judged(i, formula)).collect();
        // From here on, columns are those of the table.
        let real = |c: usize| self.sheet.columns[c].at.map_or(c, |(_, column)| column);
        let formula = Formula { columns: formula.columns.map(real), ..formula };
        Some(Fit { table, formula, members, missed, agreed })
    }

    /// A header that names one column is not of another; and nothing is proven by itself.
    fn is_forbidden(&self, shape: Shape, column: usize, table: Option<usize>) -> bool {
        let Some(table) = table else {
            // What the report shows has no whole; the line of totals may be among it.
            return matches!(shape, Shape::One | Shape::Share | Shape::RunningShare);
        };
        let named = &self.bound[self.members[0].figure].seen.named;
        shape == Shape::One
            && named.iter().any(|(t, _)| *t == table)
            && !self.sheet.columns[column].at.is_some_and(|at| named.contains(&at))
    }

    /// Members missed, agreed, and the digits that agree; nothing when too many are missed.
    fn count(&self, shape: Shape, columns: [usize; 4], factor: f64) -> Option<(usize, usize, usize)> {
        let (mut missed, mut agreed, mut digits) = (0, 0, 0);
        let mut seen: Vec<f64> = Vec::new();
        let spare = usize::from(self.members.iter().filter(|m| m.keyed).take(3).count() > 2);
        for (member, place) in self.members.iter().zip(&self.places).filter(|(m, _)| m.keyed) {
            match self.sheet.at(shape, columns, *place) {
                Some(value) if self.is(member.figure, value * factor) => {
                    agreed += 1;
                    let number = &self.figures[member.figure].number;
                    if !seen.contains(&number.value) && seen.len() < 40 {
                        seen.push(number.value);
                        // "40%" has two digits here, however round.
                        digits += (number.value / number.half / 2.0 + 1.0).log10().ceil() as usize;
                    } else {
                        digits += 1;
                    }
                }
                _ => {
                    missed += 1;
                    if missed > spare {
                        return None;
                    }
                }
            }
        }
        (agreed > 1).then_some((missed, agreed, digits))
    }

    fn is(&self, figure: usize, value: f64) -> bool {
        let number = &self.figures[figure].number;
        let target = self.bound[figure].seen.target;
        number.unit == self.unit
            && (value - target).abs() <= number.half * (1.0 + 1e-7) + target.abs() * 1e-12
    }

    fn judged(&self, i: usize, formula: Formula) -> Member {
        let (member, place) = (&self.members[i], self.places[i]);
        let value = self.sheet.at(formula.shape, formula.columns, place).map(|v| v * formula.factor);
        let fits = value.is_some_and(|v| self.is(member.figure, v));
        let used = formula.columns.iter().take(formula.shape.columns());
        let made_of = used.filter_map(|c| self.sheet.columns[*c].shown.get(place).copied().flatten());
        Member { fits, value: value.unwrap_or(0.0), made_of: made_of.collect(), ..member.clone() }
    }
}

/// What values may be multiplied by, and the digits more that this asks for.
struct Factors {
    unit: Unit,
    ratios: Vec<(f64, usize)>,
    amounts: Vec<(f64, usize)>,
}

impl Factors {
    fn of(search: &Search<'_, '_>) -> Self {
        let number = &search.figures[search.members[0].figure].number;
        let mut amounts = vec![(1.0, 0)];
        let mut ratios = vec![(1.0, 0)];
        if search.unit == Unit::Plain {
            // The result may be in the unit the report writes, or the caption may say the report's.
            if number.scale != 1.0 {
                amounts.push((number.scale, 1));
            } else {
                let captions = search.line.captions.iter();
                let said = captions.filter_map(|s| unit_of(&search.page.report[s.clone()]));
                amounts.extend(said.take(1).map(|scale| (1.0 / scale, 0)));
            }
            amounts.extend([60.0, 24.0, 30.0].map(|n| (1.0 / n, 2)));
            ratios.extend([100.0, 1e3, 1e4].map(|n| (n, 1)));
        }
        Self { unit: search.unit, ratios, amounts }
    }

    fn for_shape(&self, shape: Shape, of: &Of) -> impl Iterator<Item = &(f64, usize)> {
        const AS_IS: [(f64, usize); 1] = [(1.0, 0)];
        const OF_PERCENT: [(f64, usize); 1] = [(0.01, 0)];
        let amounts = !shape.is_ratio();
        let percent = matches!(self.unit, Unit::Percent | Unit::Points);
        let all: &[(f64, usize)] = match (self.unit, amounts) {
            (Unit::Plain, false) => &self.ratios,
            (Unit::Plain, true) => &self.amounts,
            (_, true) if percent && !of.percents.contains(&1.0) => &OF_PERCENT,
            _ => &AS_IS,
        };
        let either = percent && amounts && of.percents.len() > 1;
        all.iter().chain(OF_PERCENT.iter().filter(move |_| either))
    }
}

/// The scale a caption says: 单位：万元, "USD thousands", "($M)".
pub fn unit_of(text: &str) -> Option<f64> {
    let text = text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|w| text.contains(w));
    match () {
        () if says(&["亿元", "（亿）", "(亿)", "亿美元"]) => Some(1e8),
        () if says(&["百万", "million", "($m)", "(m)", "($ m)", "€m", "$mn"]) => Some(1e6),
        () if says(&["万元", "万美元", "万人", "万件", "万吨", "（万）", "(万)"]) => Some(1e4),
        () if says(&["千元", "thousand", "($k)", "(k)", "($ k)", "'000"]) => Some(1e3),
        () => None,
    }
}

impl Fit {
    /// Enough agrees for the one that does not to be wrong.
    pub fn is_sure(&self) -> bool {
        self.table.is_some() && self.missed == 1 && self.agreed > 1
    }

    pub fn is_cell(&self, member: &Member) -> bool {
        self.formula.shape == Shape::One && matches!(&member.scope, Scope::Rows(r) if r.len() == 1)
    }

    pub fn proof(&self, page: &Page<'_>, bound: &[Bound], member: &Member) -> Proof {
        let Some(table) = self.table else {
            let parts = member.made_of.iter().filter_map(|f| bound[*f].proof.as_ref());
            let operands = parts.flat_map(operands_of).take(SHOWN).collect();
            return Proof::formula(self.formula.shape.name(), operands);
        };
        let operands = operands(page, table, &self.formula, &member.scope);
        if self.is_cell(member)
            && let Some(operand) = operands.first()
        {
            return Proof::cell(operand.clone());
        }
        Proof::formula(self.formula.shape.name(), operands)
    }

    pub fn nearest(&self, page: &Page<'_>, member: &Member) -> Option<Operand> {
        operands(page, self.table?, &self.formula, &member.scope).into_iter().next()
    }
}

/// The cells and lines a proof rests on.
pub fn operands_of(proof: &Proof) -> Vec<Operand> {
    match proof {
        Proof::Formula { operands, .. } => operands.clone(),
        Proof::Cell { tool_call_id, row, column, value } => vec![Operand {
            tool_call_id: tool_call_id.clone(),
            row: Some(*row),
            column: column.clone(),
            value: *value,
        }],
        Proof::Line { tool_call_id, line } => vec![Operand {
            tool_call_id: tool_call_id.clone(),
            row: Some(*line),
            column: String::new(),
            value: None,
        }],
    }
}

/// The cells a formula reads for some rows; a whole column as one.
pub fn operands(page: &Page<'_>, table: usize, formula: &Formula, scope: &Scope) -> Vec<Operand> {
    let of = &page.index.tables[table];
    let mut all: Vec<Operand> = Vec::new();
    for column in formula.columns.iter().take(formula.shape.columns()) {
        let column = &of.columns[*column];
        let operand = |row: Option<usize>, value| Operand {
            tool_call_id: of.id.to_owned(),
            row,
            column: column.name.to_owned(),
            value,
        };
        match scope {
            Scope::Rows(rows) => {
                all.extend(rows.iter().take(SHOWN).map(|r| operand(Some(*r as usize), column.value(*r))))
            }
            Scope::Whole => all.push(operand(None, column.total())),
        }
        let whole = matches!(formula.shape, Shape::Share | Shape::RunningShare);
        if whole && matches!(scope, Scope::Rows(_)) {
            all.push(operand(None, column.total()));
        }
    }
    all
}
