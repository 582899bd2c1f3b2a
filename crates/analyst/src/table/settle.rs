//! What the columns of a table together say of one of them: the only amount of money, the only column of goods.
//! Adds concepts; takes none away.

use super::{Column, Role};
use crate::glossary::DefaultAgg;
use crate::norm::normal;

/// The only amount of money in a table without sales is what it takes in.
pub(super) fn settle_money(columns: &mut [Column]) {
    const CURRENCIES: [&str; 15] =
        ["元", "usd", "eur", "gbp", "cny", "rmb", "jpy", "hkd", "sek", "chf", "$", "€", "£", "¥", "￥"];
    if columns.iter().any(|c| c.has_concept("revenue")) {
        return;
    }
    let money = |c: &Column| {
        let name = normal(&c.name);
        c.role == Role::Measure
            && c.default_agg == DefaultAgg::Sum
            && (CURRENCIES.iter().any(|m| name.contains(m)) || crate::units::is_money(c))
    };
    let mut found = columns.iter_mut().filter(|c| money(c));
    const APART: [&str; 12] = [
        "energy_fee",
        "cost",
        "price",
        "tip",
        "discount",
        "budget",
        "target",
        "salary",
        "tax",
        "deposit",
        "balance",
        "arrears",
    ];
    if let (Some(only), None) = (found.next(), found.next())
        && !only.concepts.iter().any(|(id, _)| APART.contains(&id.as_str()))
    {
        only.concepts.push(("revenue".to_owned(), 1));
    }
}

/// Where every row is one thing sold, what it was sold for is what came in: `Sale Price`, and no quantity.
pub(super) fn settle_price(columns: &mut [Column], rows: u64) {
    let several =
        |c: &Column| ["quantity", "yield_amount", "nights", "guests"].iter().any(|id| c.has_concept(id));
    let sold = columns.iter().any(|c| c.concepts.iter().any(|(id, q)| id == "revenue" && *q >= 2));
    let dated = columns.iter().any(|c| c.role == Role::Time);
    let numbered = columns.iter().any(|c| c.role != Role::Measure && c.distinct == rows);
    if sold || !dated || !numbered || columns.iter().any(several) {
        return;
    }
    const SOLD_FOR: [&str; 9] = [
        "sale price",
        "sales price",
        "selling price",
        "sold price",
        "price sold",
        "hammer price",
        "成交价",
        "成交总价",
        "售价",
    ];
    let price = |c: &Column| {
        let name = crate::names::without_unit(&c.full);
        c.role == Role::Measure && SOLD_FOR.contains(&name)
    };
    let mut found = columns.iter_mut().filter(|c| price(c));
    if let (Some(only), None) = (found.next(), found.next()) {
        only.concepts.push(("revenue".to_owned(), 2));
    }
}

/// The only column of names that are neither people's nor places' tells the goods: `药品名称`.
pub(super) fn settle_product(columns: &mut [Column], rows: u64) {
    const OTHERS: [&str; 22] = [
        "客户",
        "门店",
        "店铺",
        "公司",
        "供应商",
        "部门",
        "机构",
        "单位",
        "仓库",
        "医院",
        "学校",
        "校区",
        "项目",
        "活动",
        "员工",
        "姓名",
        "用户",
        "会员",
        "企业",
        "厂商",
        "商户",
        "渠道",
    ];
    if columns.iter().any(|c| c.has_concept("product")) {
        return;
    }
    let goods = |c: &Column| {
        c.role == Role::Dimension
            && c.distinct < rows
            && ["名称", "品名"].iter().any(|e| c.words.ends_with(e))
            && !OTHERS.iter().any(|o| c.words.contains(o))
    };
    let mut found = columns.iter_mut().filter(|c| goods(c));
    if let (Some(only), None) = (found.next(), found.next()) {
        only.concepts.push(("product".to_owned(), 1));
    }
}

/// `fee_pct` beside `fee_gbp`: the fee is the amount, unless a percentage is asked for.
pub(super) fn settle_twins(columns: &mut [Column]) {
    use crate::names::without_unit;
    let share = |c: &Column| crate::dictionary::english::share_of(c).map(str::to_owned);
    let amounts: Vec<String> = columns
        .iter()
        .filter(|c| c.role == Role::Measure && share(c).is_none())
        .map(|c| without_unit(&c.full).to_owned())
        .collect();
    for column in columns.iter_mut() {
        if share(column).is_some_and(|of| amounts.contains(&of)) {
            column.concepts.clear();
        }
    }
}

/// The only column in a unit of weight is what things weigh; so with distances and energy.
pub(super) fn settle_kinds(columns: &mut [Column]) {
    use crate::units::Unit;
    const KINDS: [(&str, &[Unit]); 3] = [
        ("weight", &[Unit::Kilogram, Unit::Gram, Unit::Tonne, Unit::Pound, Unit::Ounce]),
        ("distance", &[Unit::Kilometre, Unit::Mile]),
        ("energy", &[Unit::KilowattHour, Unit::MegawattHour, Unit::GigawattHour]),
    ];
    for (concept, units) in KINDS {
        if columns.iter().any(|c| c.has_concept(concept)) {
            continue;
        }
        let held: Vec<usize> = (0..columns.len())
            .filter(|i| crate::units::of(&columns[*i]).is_some_and(|u| units.contains(&u)))
            .collect();
        let total =
            |i: &&usize| columns[**i].words.split(' ').any(|w| matches!(w, "total" | "net" | "gross"));
        let one = match held[..] {
            [one] => Some(one),
            _ => held.iter().find(total).copied().filter(|_| held.iter().filter(total).count() == 1),
        };
        if let Some(one) = one {
            columns[one].concepts.push((concept.to_owned(), 1));
        }
    }
}

/// Hours of work done are added up; how long something took is averaged.
pub(super) fn is_effort(name: &str) -> bool {
    const EFFORT: [&str; 30] = [
        "labor",
        "labour",
        "volunteer",
        "vol",
        "volume",
        "man",
        "machine",
        "crew",
        "staff",
        "billable",
        "billed",
        "overtime",
        "work",
        "working",
        "worked",
        "training",
        "teaching",
        "flight",
        "flying",
        "engine",
        "operating",
        "running",
        "driving",
        "paid",
        "booked",
        "rental",
        "person",
        "tutor",
        "contact",
        "shift",
    ];
    name.strip_suffix(" hours").is_some_and(|w| EFFORT.contains(&w))
}
