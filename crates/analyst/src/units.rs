//! Units of measurement, as headers and questions write them, and which column holds which. Converts no figures.

use crate::glossary::DefaultAgg;
use crate::norm::{is_cjk, normal};
use crate::table::{Column, Role, Table};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    Money,
    Day,
    Night,
    Hour,
    Minute,
    Second,
    Kilometre,
    Mile,
    Kilogram,
    Tonne,
    Litre,
    Millilitre,
    SquareMetre,
    Acre,
    Hectare,
    KilowattHour,
    Person,
    Piece,
    Celsius,
    Gram,
    Pound,
    Ounce,
    Kilowatt,
    Megawatt,
    MegawattHour,
    GigawattHour,
    CubicMetre,
    Gallon,
    Barrel,
    Bushel,
    Metre,
    Foot,
    SquareFoot,
    Megabyte,
    Gigabyte,
    Terabyte,
}

/// How each unit is written: in headers and in questions alike.
const WRITTEN: &[(Unit, &[&str])] = &[
    (Unit::Millilitre, &["ml", "millilitre", "milliliter", "毫升"]),
    (
        Unit::Money,
        &[
            "usd",
            "eur",
            "gbp",
            "cny",
            "rmb",
            "jpy",
            "hkd",
            "nok",
            "sek",
            "dkk",
            "chf",
            "aud",
            "cad",
            "inr",
            "sgd",
            "pln",
            "krw",
            "dollar",
            "euro",
            "yuan",
            "元",
            "块钱",
            "人民币",
            "美元",
            "万元",
            "$",
            "€",
            "£",
            "¥",
            "￥",
        ],
    ),
    (Unit::Day, &["day", "天", "天数", "日数"]),
    (Unit::Night, &["night", "晚", "夜", "晚数", "间夜", "间夜数"]),
    (Unit::Hour, &["hour", "hr", "hrs", "h", "小时", "工时", "钟头", "课时", "小时数"]),
    (Unit::Minute, &["minute", "min", "mins", "分钟", "分钟数"]),
    (Unit::Second, &["second", "sec", "secs", "秒", "秒数"]),
    (Unit::Kilometre, &["km", "kilometre", "kilometer", "公里", "千米", "里程"]),
    (Unit::Mile, &["mile", "mi"]),
    (Unit::Kilogram, &["kg", "kgs", "kilo", "kilogram", "kilogramme", "公斤", "千克"]),
    (Unit::Tonne, &["t", "ton", "tonne", "metric ton", "metric tonne", "吨", "吨数"]),
    (Unit::Litre, &["l", "litre", "liter", "升"]),
    (Unit::SquareMetre, &["sqm", "m2", "㎡", "平", "平米", "平方米", "平方", "square meter", "square metre"]),
    (Unit::Acre, &["acre", "亩"]),
    (Unit::Hectare, &["ha", "hectare", "公顷"]),
    (Unit::KilowattHour, &["kwh", "kilowatt hour", "kilowatt-hour", "千瓦时", "度电"]),
    (Unit::Person, &["people", "person", "pax", "人", "人数", "人次", "head"]),
    (Unit::Piece, &["piece", "pcs", "pc", "unit", "件", "件数", "杯", "盒", "瓶", "箱", "袋", "罐", "桶"]),
    (Unit::Celsius, &["c", "°c", "f", "°f", "celsius", "fahrenheit", "degree", "℃", "摄氏度"]),
    (Unit::Gram, &["g", "gr", "gram", "gramme", "克"]),
    (Unit::Pound, &["lb", "lbs", "pound"]),
    (Unit::Ounce, &["oz", "ounce"]),
    (Unit::Kilowatt, &["kw", "kilowatt", "千瓦"]),
    (Unit::Megawatt, &["mw", "megawatt", "兆瓦"]),
    (Unit::MegawattHour, &["mwh", "megawatt hour", "megawatt-hour", "兆瓦时"]),
    (Unit::GigawattHour, &["gwh", "gigawatt hour", "gigawatt-hour"]),
    (Unit::CubicMetre, &["m3", "cbm", "m³", "cubic metre", "cubic meter", "立方米", "方量"]),
    (Unit::Gallon, &["gal", "gallon", "kgal", "加仑"]),
    (Unit::Barrel, &["bbl", "barrel"]),
    (Unit::Bushel, &["bu", "bushel"]),
    (Unit::Metre, &["m", "metre", "meter"]),
    (Unit::Foot, &["ft", "feet", "foot"]),
    (Unit::SquareFoot, &["sqft", "sq ft", "square foot", "square feet"]),
    (Unit::Megabyte, &["mb", "megabyte"]),
    (Unit::Gigabyte, &["gb", "gigabyte"]),
    (Unit::Terabyte, &["tb", "terabyte"]),
];

/// Words that say a unit in a question and mean nothing else there.
pub fn spoken() -> impl Iterator<Item = (&'static str, Unit)> {
    WRITTEN.iter().flat_map(|(unit, words)| {
        let plain = |w: &&&str| {
            (w.len() > 2 || matches!(**w, "km" | "kg"))
                && (*unit != Unit::Piece || w.is_ascii())
                && !matches!(
                    **w,
                    "人" | "人数"
                        | "平"
                        | "度"
                        | "天"
                        | "件"
                        | "晚"
                        | "里程"
                        | "工时"
                        | "head"
                        | "people"
                        | "person"
                        | "unit"
                        | "piece"
                        | "课时"
                        | "件数"
                        | "天数"
                        | "day"
                        | "hour"
                        | "night"
                        | "second"
                        | "人次"
                        | "小时"
                        | "meter"
                        | "foot"
                        | "feet"
                        | "barrel"
                        | "pound"
                        | "克"
                )
        };
        words.iter().filter(plain).map(|w| (*w, *unit))
    })
}

/// Every unit with the ways to write it.
pub fn written() -> impl Iterator<Item = (Unit, &'static [&'static str])> {
    WRITTEN.iter().map(|(unit, words)| (*unit, *words))
}

/// The figure a unit alone stands for: the only column measured so, or the total beside its parts.
pub fn named_by(table: &Table, unit: Unit) -> Option<usize> {
    const WHOLE: [&str; 12] = [
        "total", "all", "net", "gross", "weight", "wt", "quantity", "qty", "amount", "sold", "volume",
        "output",
    ];
    let found = columns(table, unit);
    let whole = |i: &&usize| {
        let words = table.columns[**i].words.split(' ');
        words.into_iter().all(|w| WHOLE.contains(&w) || exact(w) == Some(unit))
    };
    // What one of them costs is no number of them.
    let price = |i: &&usize| table.columns[**i].words.contains("per ") || is_money(&table.columns[**i]);
    let mut plain = found.iter().filter(|i| !price(i));
    match (plain.next(), plain.next()) {
        (Some(one), None) => Some(*one),
        _ => {
            let mut totals = found.iter().filter(whole);
            totals.next().filter(|_| totals.next().is_none()).copied()
        }
    }
}

/// The unit a text is or ends with: `多少天`, `how many hours`.
pub fn ending(text: &str) -> Option<Unit> {
    let last = text.rsplit(' ').next().unwrap_or(text);
    // `600分钟`
    let last = last.trim_start_matches(|c: char| {
        c.is_ascii_digit() || matches!(c, '.' | ',' | '个') || "一二两三四五六七八九十百千万".contains(c)
    });
    let bare = last
        .strip_prefix("多少")
        .or_else(|| last.strip_prefix("有多少"))
        .or_else(|| last.strip_prefix("几个"))
        .or_else(|| last.strip_prefix('几'))
        .unwrap_or(last);
    exact(bare)
}

fn exact(word: &str) -> Option<Unit> {
    let singular = word.strip_suffix('s').filter(|w| w.len() > 2).unwrap_or(word);
    WRITTEN
        .iter()
        .find(|(_, words)| words.contains(&word) || words.contains(&singular))
        .map(|(unit, _)| *unit)
}

/// What a column is measured in, going by its name.
pub fn of(column: &Column) -> Option<Unit> {
    if column.role != Role::Measure {
        return None;
    }
    let name = normal(&column.name);
    let bracketed =
        name.rsplit_once(['(', '[', '（']).map(|(_, u)| u.trim_end_matches([')', ']', '）']).trim());
    if let Some(unit) = bracketed.and_then(exact) {
        return Some(unit);
    }
    if column.words.chars().any(is_cjk) {
        const ENDINGS: [&str; 16] = [
            "间夜数",
            "间夜",
            "晚数",
            "天数",
            "小时",
            "工时",
            "分钟",
            "秒数",
            "公里",
            "里程",
            "公斤",
            "吨数",
            "人数",
            "件数",
            "人次",
            "课时",
        ];
        let lettered = column.words.rsplit_once(' ').and_then(|(_, last)| exact(last));
        return lettered
            .or_else(|| ENDINGS.iter().find(|e| column.words.ends_with(**e)).and_then(|e| exact(e)));
    }
    let words: Vec<&str> = column.words.split(' ').collect();
    let alone = words.len() == 1;
    let said = |w: &&&str| !alone || w.len() > 2;
    if words.contains(&"of") {
        return None;
    }
    // `price per lb` is no weight.
    let rated = words.len() >= 2 && words[words.len() - 2] == "per";
    let last = words.last().filter(said).filter(|_| !rated).and_then(|w| exact(w));
    last.or_else(|| words.first().and_then(|w| exact(w)).filter(|u| leads_a_name(*u)))
}

/// `days to ship`, `lbs total`: units that are said before what they measure.
fn leads_a_name(unit: Unit) -> bool {
    is_time(unit) || matches!(unit, Unit::Kilogram | Unit::Pound | Unit::KilowattHour | Unit::MegawattHour)
}

/// Says how long something takes.
pub fn is_time(unit: Unit) -> bool {
    matches!(unit, Unit::Day | Unit::Night | Unit::Hour | Unit::Minute | Unit::Second)
}

/// How many seconds a unit of time has.
pub fn seconds(unit: Unit) -> Option<f64> {
    Some(match unit {
        Unit::Second => 1.0,
        Unit::Minute => 60.0,
        Unit::Hour => 3600.0,
        Unit::Day | Unit::Night => 86400.0,
        _ => return None,
    })
}

/// The columns of a table measured in a unit.
pub fn columns(table: &Table, unit: Unit) -> Vec<usize> {
    if unit == Unit::Money {
        return main_money(table).into_iter().collect();
    }
    table.indices(|c| of(c) == Some(unit))
}

/// The column that says how long: the only one in a unit of time.
pub fn only_duration(table: &Table) -> Option<usize> {
    let found = table
        .indices(|c| c.role == Role::Measure && (of(c).is_some_and(is_time) || c.has_concept("duration")));
    found.first().copied().filter(|_| found.len() == 1)
}

/// An amount of money: by its unit, or by what it is called.
pub fn is_money(column: &Column) -> bool {
    const WORDS: [&str; 25] = [
        "amount", "revenue", "sales", "fee", "fees", "charge", "charges", "price", "cost", "costs", "total",
        "value", "paid", "premium", "rent", "spend", "income", "payment", "bill", "subtotal", "salary",
        "fare", "budget", "turnover", "takings",
    ];
    const CHINESE: [&str; 16] = [
        "金额", "额", "费", "费用", "款", "价", "单价", "收入", "成本", "租金", "工资", "薪", "保费", "利润",
        "营收", "花费",
    ];
    if column.role != Role::Measure || column.unit.as_deref() == Some("%") {
        return false;
    }
    let unit = of(column);
    if let Some(unit) = unit {
        return unit == Unit::Money;
    }
    let last = column.full.rsplit(' ').next().unwrap_or("");
    WORDS.contains(&last) || CHINESE.iter().any(|e| column.words.ends_with(e))
}

/// The amount a table is about: what `how much` asks for when nothing else is said.
pub fn main_money(table: &Table) -> Option<usize> {
    const ASIDE: [&str; 14] = [
        "tip",
        "tax",
        "discount",
        "commission",
        "freight",
        "deposit",
        "price",
        "budget",
        "target",
        "salary",
        "bonus",
        "refund",
        "cost",
        "profit",
    ];
    let money = table.indices(is_money);
    let aside = |i: &&usize| {
        let column = &table.columns[**i];
        ASIDE.iter().any(|id| column.has_concept(id)) || column.default_agg == DefaultAgg::Mean
    };
    let main: Vec<usize> = money.iter().filter(|i| !aside(i)).copied().collect();
    let sure = |i: &&usize| table.columns[**i].concepts.iter().any(|(id, q)| id == "revenue" && *q >= 2);
    // What one costs is not what was taken in, where it is told how many.
    let unit_price = |i: usize| {
        let column = &table.columns[i];
        column.has_concept("price")
            && table.columns.iter().any(|c| c.has_concept("quantity") || c.has_concept("yield_amount"))
    };
    match (&main[..], &money[..]) {
        ([one], _) => Some(*one),
        ([], [one]) if !unit_price(*one) => Some(*one),
        ([], _) => None,
        _ => main
            .iter()
            .find(sure)
            .copied()
            .or_else(|| only_total(table, &main))
            .or_else(|| total_or_received(table, &main))
            .or_else(|| of_rows(table, &main)),
    }
}

/// `总费用` beside its parts, `已缴` beside what is owed.
fn total_or_received(table: &Table, money: &[usize]) -> Option<usize> {
    let begins = |with: &[&str]| {
        let found: Vec<usize> = money
            .iter()
            .copied()
            .filter(|i| with.iter().any(|w| table.columns[*i].words.starts_with(w)))
            .collect();
        found.first().copied().filter(|_| found.len() == 1)
    };
    begins(&["总", "合计"]).or_else(|| begins(&["实收", "实缴", "实付", "已收", "已缴", "已付"]))
}

/// `total bill` beside the fees it is made of.
fn only_total(table: &Table, of: &[usize]) -> Option<usize> {
    let total = |i: &&usize| table.columns[**i].full.split(' ').any(|w| w == "total" || w == "grand");
    let found: Vec<usize> = of.iter().filter(total).copied().collect();
    found.first().copied().filter(|_| found.len() == 1)
}

/// `rental charge` in a file of rentals, beside other fees.
fn of_rows(table: &Table, of: &[usize]) -> Option<usize> {
    let (heads, _) = crate::names::row_nouns(&table.rows_called);
    let about = |i: &&usize| {
        let first = table.columns[**i].full.split(' ').next().unwrap_or("");
        heads.iter().any(|h| crate::names::stem(h) == crate::names::stem(first))
    };
    let found: Vec<usize> = of.iter().filter(about).copied().collect();
    found.first().copied().filter(|_| found.len() == 1)
}

/// What came in, where the table has no column called so: its main amount, unless that is owed, lent or paid out.
pub fn takings(table: &Table) -> Option<usize> {
    const OTHER: [&str; 20] = [
        "cost", "costs", "salary", "budget", "loan", "claim", "fine", "debt", "balance", "deposit", "damage",
        "credit", "limit", "refund", "benefit", "price", "expense", "spend", "bonus", "due",
    ];
    let column = main_money(table)?;
    let name = &table.columns[column].full;
    let aside = table.columns[column].default_agg == DefaultAgg::Mean;
    (!aside && !name.split(' ').any(|w| OTHER.contains(&w))).then_some(column)
}

/// What a row comes to: the main amount, or else its only total of costs.
pub fn worth(table: &Table) -> Option<usize> {
    let costs = |c: &Column| {
        is_money(c)
            && c.has_concept("cost")
            && c.default_agg == DefaultAgg::Sum
            && !c.full.starts_with("unit ")
            && !c.full.contains(" per ")
    };
    let found = table.indices(costs);
    main_money(table).or_else(|| found.first().copied().filter(|_| found.len() == 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{sales, staff};

    #[test]
    fn units_are_told_from_headers_and_questions() {
        assert_eq!(ending("多少天"), Some(Unit::Day));
        assert_eq!(ending("how many hours"), Some(Unit::Hour));
        assert_eq!(ending("how many"), None);
        assert_eq!(ending("几公里"), Some(Unit::Kilometre));
        assert_eq!(ending("600分钟"), Some(Unit::Minute));
        assert_eq!(ending("600"), None);
    }

    #[test]
    fn a_table_has_one_main_amount() {
        let table = sales();
        assert_eq!(main_money(&table).map(|i| table.columns[i].name.as_str()), Some("销售额"));
        let table = staff();
        assert_eq!(main_money(&table).map(|i| table.columns[i].name.as_str()), Some("annual_salary"));
        assert_eq!(only_duration(&table), None);
    }
}
