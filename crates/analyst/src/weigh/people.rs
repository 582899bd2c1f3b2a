//! People in a question and in a table: words for them, the column that says who, what `how many people` counts, and names for
//! numbers of people.

use crate::lex::ColRef;
use crate::question::{Agg, ChartKind, Group, Measure, Question};
use crate::scope::Scope;
use crate::table::{Column, Role};

/// Words for people whose age a bound is about.
const PEOPLE: [&str; 34] = [
    "people", "person", "patient", "member", "customer", "client", "user", "student", "pupil", "employee",
    "staff", "worker", "kid", "child", "children", "guest", "player", "women", "men", "adult", "borrower",
    "donor", "reader", "resident", "tenant", "人", "患者", "会员", "客户", "用户", "员工", "学生", "病人",
    "读者",
];

pub fn is_people(text: &str) -> bool {
    PEOPLE.contains(&text) || text.is_ascii() && text.strip_suffix('s').is_some_and(|t| PEOPLE.contains(&t))
}

/// What `how many` asks for by its wording.
pub struct Counted {
    /// `多少人`
    pub people: bool,
    /// `几种`
    pub kinds: bool,
    /// `多少户`
    pub homes: bool,
}

/// What `how many` counts when nothing is named: people or homes where they have numbers, else rows.
pub fn counted_things(scope: &Scope<'_>, asked: &Counted) -> Measure {
    let people: Vec<ColRef> = ["employee", "customer", "student", "patient", "candidate"]
        .iter()
        .flat_map(|id| scope.concept_columns(id))
        .map(|(c, _)| c)
        .filter(|c| scope.role(*c) == Role::Id || scope.column(*c).distinct < scope.tables[c.table].rows)
        .collect();
    // Namesakes have one name and two numbers.
    let numbered = |name: &ColRef| {
        let names = scope.column(*name).distinct;
        // … or every row is one of them.
        let alike = |c: &&ColRef| {
            let numbers = scope.column(**c).distinct;
            (names..=names + names / 4).contains(&numbers) || numbers >= scope.tables[c.table].rows
        };
        people.iter().filter(alike).find(|c| c.table == name.table && scope.role(**c) == Role::Id).copied()
    };
    let person = people.first().map(|c| numbered(c).unwrap_or(*c));
    let person = person.or_else(|| counted_people(scope).map(|(c, _)| c)).filter(|_| asked.people);
    // `几种`: of the goods, where rows would be too many.
    let goods = scope.concept_columns("product").first().map(|(c, _)| *c).filter(|_| asked.kinds);
    let goods = goods.filter(|c| scope.role(*c) == Role::Dimension);
    match person.or(goods).or_else(|| home(scope).filter(|_| asked.homes)) {
        Some(c) if scope.role(c) == Role::Measure => Measure::Of(Agg::Sum, c),
        Some(c) => Measure::Of(Agg::Distinct, c),
        None => Measure::Rows,
    }
}

/// `房号`: what a home is known by, where it comes up in many rows.
fn home(scope: &Scope<'_>) -> Option<ColRef> {
    const HOMES: [&str; 7] = ["房号", "户号", "房间号", "门牌号", "房屋编号", "户主", "住户"];
    let main = *scope.in_scope.first()?;
    let table = &scope.tables[main];
    let named = |c: &Column| {
        c.role != Role::Measure && c.distinct < table.rows && HOMES.iter().any(|e| c.words.ends_with(e))
    };
    table.columns.iter().position(named).map(|column| ColRef { table: main, column })
}

/// The only column that says how many people: `常住人数`.
fn counted_people(scope: &Scope<'_>) -> Option<(ColRef, u8)> {
    let main = *scope.in_scope.first()?;
    let found = crate::units::columns(&scope.tables[main], crate::units::Unit::Person);
    found.first().filter(|_| found.len() == 1).map(|column| (ColRef { table: main, column: *column }, 2))
}

/// The column that says who, where people come up in many rows.
pub fn person(scope: &Scope<'_>) -> Option<ColRef> {
    let main = scope.in_scope[0];
    let table = &scope.tables[main];
    let human = |c: &Column| {
        const PEOPLE: [&str; 14] = [
            "handler",
            "salesperson",
            "employee",
            "customer",
            "doctor",
            "teacher",
            "driver",
            "coach",
            "nurse",
            "lawyer",
            "broker",
            "cashier",
            "waiter",
            "manager",
        ];
        let known = PEOPLE.iter().any(|id| c.has_concept(id));
        let named = ["人", "员", "者"].iter().any(|e| c.words.ends_with(e)) || is_trade(&c.full);
        c.role != Role::Measure && c.distinct * 10 < table.rows * 9 && (known || named)
    };
    let named = || {
        let people = |c: &Column| {
            c.role == Role::Dimension
                && c.values_complete
                && !c.values.is_empty()
                && c.values.iter().all(|v| is_person(v))
        };
        table.columns.iter().position(people)
    };
    // `reader id`: what comes up again and again under a number.
    let repeated = || {
        let again = |c: &Column| c.role == Role::Id && c.distinct * 10 < table.rows * 9 && c.distinct > 2;
        let found = table.indices(again);
        found.first().copied().filter(|_| found.len() == 1)
    };
    table
        .columns
        .iter()
        .position(human)
        .or_else(named)
        .or_else(repeated)
        .map(|column| ColRef { table: main, column })
}

/// `timekeeper`, `instructor`, `pharmacist`: a header that says who does it.
fn is_trade(name: &str) -> bool {
    const THINGS: [&str; 34] = [
        "order",
        "number",
        "quarter",
        "center",
        "color",
        "floor",
        "sector",
        "tier",
        "offer",
        "filter",
        "transfer",
        "letter",
        "paper",
        "tower",
        "counter",
        "corner",
        "sensor",
        "door",
        "motor",
        "vendor",
        "supplier",
        "carrier",
        "distributor",
        "manufacturer",
        "container",
        "trailer",
        "printer",
        "computer",
        "weather",
        "gender",
        "matter",
        "folder",
        "router",
        "chapter",
    ];
    let last = name.rsplit(' ').next().unwrap_or(name);
    let does = ["er", "or", "ist", "ian", "eer", "keeper", "attendant"].iter().any(|e| last.ends_with(e));
    last.len() >= 5 && does && !THINGS.contains(&last) && name.is_ascii()
}

/// `J. Smith`, `Dr. Adams`, `陈静`: written as people's names are.
fn is_person(value: &str) -> bool {
    const SURNAMES: &str = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文";
    let chars: Vec<char> = value.chars().collect();
    let chinese = (2..=3).contains(&chars.len())
        && chars.iter().all(|c| crate::norm::is_cjk(*c))
        && (SURNAMES.contains(chars[0]) || chars[0] == '小');
    let words: Vec<&str> = value.split(' ').collect();
    let capital = |w: &&str| {
        w.chars().next().is_some_and(char::is_uppercase)
            && w.chars().all(|c| c.is_alphabetic() || c == '.' || c == '\'' || c == '-')
    };
    let titled = words.first().is_some_and(|w| w.ends_with('.')) && words.len() >= 2;
    chinese || titled && words.iter().all(capital)
}

/// `前三名的学生是谁`: a number is no answer to who, where the table has the name besides.
pub fn name_people(scope: &Scope<'_>, question: &mut Question) {
    const NAMES: [&str; 6] = ["姓名", "名字", "学生姓名", "员工姓名", "name", "full name"];
    let [Group::By(id)] = &question.groups[..] else { return };
    let (id, table) = (*id, &scope.tables[id.table]);
    let numbers = table.columns[id.column].distinct;
    // One name for each number, but for namesakes.
    let named = |c: &Column| {
        NAMES.contains(&c.full.as_str()) && c.distinct <= numbers && c.distinct * 5 >= numbers * 4
    };
    let name = table.columns.iter().position(named).map(|column| ColRef { table: id.table, column });
    if let Some(name) = name.filter(|n| *n != id && scope.role(id) == Role::Id) {
        question.groups.insert(0, Group::By(name));
        question.chart = question.chart.or(Some(ChartKind::None));
    }
}
