//! Chinese nouns and verbs that headers only hint at: `案子` of `案号`, `用户` of `户号`, `欠着` of `是否欠费`, `没结` of
//! `结案日期`. Looks at the names and gaps of columns; reads no question.

use super::Dictionary;
use crate::glossary::{Concept, ConceptRole, Glossary};
use crate::lex::{ColRef, Meaning, Mention};
use crate::norm::is_cjk;
use crate::table::{Kind, Role, Table};
use crate::word::Word;

/// What the columns of the tables are called and lack.
#[derive(Default)]
pub struct Hints {
    /// Columns with gaps: name, place, whether it holds dates.
    unfilled: Vec<(String, ColRef, bool)>,
    /// All columns by name and role.
    named: Vec<(ColRef, String, Role)>,
    /// Concepts of people and things.
    entities: Vec<usize>,
    /// Concepts of people that no column tells apart.
    pub nobody: Vec<usize>,
    /// Concepts to group by that no column stands for.
    pub untold: Vec<usize>,
    /// Figures no column stands for.
    pub absent: Vec<usize>,
    /// Classifiers of goods: `盒`, `瓶`.
    pub pieces: Vec<String>,
    /// The characters of flags' names: said alone they may be a condition.
    pub flags: String,
    /// The characters of all other names.
    pub headers: String,
}

/// What a header numbers, by the last character before `号`, and the nouns people say for it.
const NUMBERED: [(char, &[&str]); 30] = [
    ('案', &["案子", "案件", "案", "案例"]),
    ('户', &["用户", "住户", "户", "户头", "户数", "人家", "客户", "家庭"]),
    ('片', &["影片", "片子", "电影", "片"]),
    ('房', &["房子", "房间", "房屋", "房", "屋子", "住户", "客房"]),
    ('车', &["车子", "车辆", "车", "汽车"]),
    ('牌', &["车子", "车辆", "车", "汽车"]),
    ('单', &["单子", "单据", "单", "订单"]),
    ('票', &["票", "票据", "小票", "票子"]),
    ('卡', &["卡", "卡片", "卡号"]),
    ('学', &["学生", "学员", "同学", "孩子"]),
    ('工', &["员工", "职工", "人员", "同事", "职员"]),
    ('员', &["会员"]),
    ('件', &["件", "快件", "包裹", "邮件", "件儿"]),
    ('场', &["场", "场次", "场子"]),
    ('次', &["场", "场次", "班次"]),
    ('课', &["课", "课程", "节课"]),
    ('书', &["书", "图书", "书本"]),
    ('箱', &["箱子", "箱", "柜子"]),
    ('床', &["床位", "床"]),
    ('桌', &["桌子", "桌", "餐桌"]),
    ('店', &["店", "店铺", "门店", "店面"]),
    ('站', &["站", "站点"]),
    ('机', &["机器", "设备", "机台"]),
    ('备', &["设备", "机器"]),
    ('桩', &["桩", "充电桩", "桩子"]),
    ('表', &["表", "表计", "电表", "水表"]),
    ('运', &["运单"]),
    ('租', &["租户", "租客"]),
    ('井', &["井"]),
    ('保', &["保单"]),
];

/// Of these one says `多少案`, `几场`.
const COUNTED: &str = "案户单票件场车房课书箱桌店站桩井卡";

/// Endings of headers that name or number.
const NUMBERING: [&str; 9] = ["编号", "编码", "代码", "号码", "序号", "id", "号", "码", "名"];

/// How people say that an amount is due, came in or was paid, by how its header begins.
const AMOUNTS: [(&[&str], &[&str]); 3] = [
    (
        &["实收", "已收", "实缴", "已缴", "实际收"],
        &[
            "实际收上来",
            "实际收上来的",
            "实际收到",
            "实际收到的",
            "实际收",
            "实际收了",
            "真正收到",
            "真收到",
            "收上来",
            "收上来的",
            "收到手",
            "实际到账",
            "收回来",
            "收进来",
            "收回",
            "已经收",
            "已经收到",
            "已经收了",
            "真正收上来",
            "实际缴",
            "实际交",
            "实际交了",
            "实际缴了",
            "已经交",
            "已经缴",
            "已经交了",
            "已经缴了",
        ],
    ),
    (
        &["应收", "应缴", "应付", "应交"],
        &[
            "该收",
            "应该收",
            "本该收",
            "理应收",
            "该交",
            "应该交",
            "该缴",
            "应该缴",
            "该付",
            "应该付",
            "应当收",
            "应当缴",
        ],
    ),
    (
        &["实付", "已付", "实际付"],
        &[
            "实际付",
            "实际付了",
            "实际支付",
            "实际支付了",
            "真正付",
            "真付",
            "已经付",
            "已经付了",
            "实际花",
            "实际花了",
            "真正花",
        ],
    ),
];

/// People a figure may be about without a column that says who.
const PEOPLE: [&str; 12] = [
    "customer",
    "patient",
    "student",
    "employee",
    "passenger",
    "tenant",
    "owner_person",
    "visitor_person",
    "reader",
    "donor",
    "player",
    "company",
];

/// `金额`, `业绩` where no column is called so: the amount the rows are about.
pub(super) fn main_amount(name: &str, tables: &[Table]) -> Option<ColRef> {
    const ANY: [&str; 5] = ["金额", "总金额", "总额", "款项", "数额"];
    const TAKEN: [&str; 6] = ["业绩", "营收", "营业额", "流水", "进账", "销售业绩"];
    const OTHER: [&str; 18] = [
        "成本",
        "工资",
        "薪",
        "预算",
        "贷",
        "赔",
        "罚",
        "欠",
        "余额",
        "押金",
        "保证金",
        "退",
        "报销",
        "费用",
        "采购",
        "价",
        "优惠",
        "标的",
    ];
    if !ANY.contains(&name) && !TAKEN.contains(&name) {
        return None;
    }
    let mut found = tables.iter().enumerate().filter_map(|(t, table)| {
        let column = crate::units::main_money(table)?;
        let taken = !OTHER.iter().any(|o| table.columns[column].words.contains(o));
        (taken || ANY.contains(&name)).then_some(ColRef { table: t, column })
    });
    found.next().filter(|_| found.next().is_none())
}

impl Dictionary {
    /// `案子` where rows are numbered by `案号`; `用户` where `户号` says which.
    pub(super) fn add_numbered(&mut self, t: usize, table: &Table) {
        for (c, column) in table.columns.iter().enumerate() {
            let Some(bare) = NUMBERING.iter().find_map(|e| column.words.strip_suffix(e)) else { continue };
            let named = column.words.ends_with('名') && column.distinct < table.rows;
            let Some(last) = bare.trim().chars().last().filter(|c| is_cjk(*c)) else { continue };
            if column.role != Role::Id && !named {
                continue;
            }
            let Some((_, nouns)) = NUMBERED.iter().find(|(one, _)| *one == last) else { continue };
            let at = ColRef { table: t, column: c };
            let rows = column.distinct * 10 >= table.rows * 8;
            for noun in *nouns {
                if self.names_something(noun) {
                    continue;
                }
                let meaning = if rows { Meaning::RowNoun(t) } else { Meaning::Column(at, 2) };
                self.add(noun, meaning);
            }
            if rows && COUNTED.contains(last) {
                for how_many in ["多少", "几", "有多少", "有几"] {
                    self.add(&format!("{how_many}{last}"), Meaning::Word(Word::HowMany));
                    // Which of several tables is meant.
                    self.add(&format!("{how_many}{last}"), Meaning::RowNoun(t));
                }
            }
        }
    }

    /// `实际收上来` of `实收电费`, beside `应收电费`.
    pub(super) fn add_received(&mut self, t: usize, table: &Table) {
        for (begins, said) in AMOUNTS {
            let found =
                table.indices(|c| c.role == Role::Measure && begins.iter().any(|b| c.words.starts_with(b)));
            let [column] = found[..] else { continue };
            let others = table.indices(|c| c.role == Role::Measure && crate::units::is_money(c)).len();
            for phrase in said.iter().filter(|_| others > 1) {
                self.add(phrase, Meaning::Column(ColRef { table: t, column }, 2));
            }
        }
    }

    /// `案子` where the file is called `案件台账`.
    pub(super) fn add_colloquial(&mut self, t: usize, heads: &[String]) {
        for head in heads {
            let first = head.chars().next().filter(|_| head.chars().count() == 2);
            let Some((one, nouns)) = NUMBERED.iter().find(|(one, _)| Some(*one) == first) else { continue };
            if nouns.contains(&head.as_str()) {
                let same = nouns.iter().filter(|n| n.starts_with(*one) && n.chars().count() == 2);
                for noun in same {
                    self.add(noun, Meaning::RowNoun(t));
                }
            }
        }
    }

    /// `欠着`, `退了` of `是否欠费`, `是否退款`: the verb of a flag, where it says nothing else.
    pub(super) fn add_flag_verb(&mut self, at: ColRef, name: &str) {
        let [verb, object] = name.chars().collect::<Vec<char>>()[..] else { return };
        if !is_cjk(verb) || !is_cjk(object) {
            return;
        }
        for after in ["着", "了", "过", "出去", "出", "掉", "走"] {
            let form = format!("{verb}{after}");
            if !self.means_something(&form) {
                self.add(&form, Meaning::Column(at, 2));
            }
        }
        for between in ["到", "上", "完", "好", "下", "满", "成", "得", "到了", "完了", "上了", "好了"]
        {
            self.add(&format!("{verb}{between}{object}"), Meaning::Column(at, 4));
        }
        // `租出去` of `是否出租`
        if verb == '出' {
            for form in [format!("{object}出去"), format!("{object}出"), format!("{object}出去了")] {
                self.add(&form, Meaning::Column(at, 4));
            }
        }
    }

    /// Columns with gaps, for what was not done, and people no column tells apart.
    pub(super) fn note_gaps(&mut self, glossary: &Glossary, tables: &[Table]) {
        self.hints.pieces.clone_from(&glossary.classifiers.pieces);
        for (t, table) in tables.iter().enumerate() {
            for (c, column) in
                table.columns.iter().enumerate().filter(|(_, c)| c.nulls > 0 && c.role != Role::Flag)
            {
                let dated = matches!(column.kind, Kind::Date(_));
                self.hints.unfilled.push((column.words.clone(), ColRef { table: t, column: c }, dated));
            }
        }
        self.hints.named = tables
            .iter()
            .enumerate()
            .flat_map(|(t, table)| {
                let columns = table.columns.iter().enumerate();
                columns.map(move |(column, c)| (ColRef { table: t, column }, c.words.clone(), c.role))
            })
            .collect();
        let flags = tables.iter().flat_map(|t| &t.columns).filter(|c| c.role == Role::Flag);
        let others = tables.iter().flat_map(|t| &t.columns).filter(|c| c.role != Role::Flag);
        let files = tables.iter().flat_map(|t| t.rows_called.chars());
        self.hints.headers = others.flat_map(|c| c.words.chars()).chain(files).collect();
        self.hints.flags = flags.flat_map(|c| c.words.trim_start_matches("是否").chars()).collect();
        let entity = |c: &Concept| c.role == ConceptRole::Entity;
        self.hints.entities =
            (0..glossary.concepts.len()).filter(|i| entity(&glossary.concepts[*i])).collect();
        let told = |c: &Concept| {
            let stands = |id: &str| tables.iter().any(|t| t.columns.iter().any(|c| c.has_concept(id)));
            stands(&c.id) || c.or.iter().any(|id| stands(id))
        };
        let figure = |c: &Concept| c.role == ConceptRole::Measure && !told(c);
        self.hints.absent = (0..glossary.concepts.len()).filter(|i| figure(&glossary.concepts[*i])).collect();
        let grouping =
            |c: &Concept| matches!(c.role, ConceptRole::Entity | ConceptRole::Dimension) && !told(c);
        self.hints.untold =
            (0..glossary.concepts.len()).filter(|i| grouping(&glossary.concepts[*i])).collect();
        let people = |c: &Concept| c.role == ConceptRole::Entity && PEOPLE.contains(&c.id.as_str());
        self.hints.nobody = (0..glossary.concepts.len())
            .filter(|i| people(&glossary.concepts[*i]) && !told(&glossary.concepts[*i]))
            .collect();
    }

    /// The column that is empty where something was not done: `结案日期` for `结`.
    pub fn undone(&self, word: &str) -> Option<Meaning> {
        let bare = word.trim_end_matches(['完', '好', '掉', '成', '到', '过', '了', '上']);
        let bare = if bare.is_empty() { word } else { bare };
        let about = |words: &str| {
            let name = words.trim_start_matches(['已', '实']);
            name.starts_with(bare) && name.chars().count() > bare.chars().count()
        };
        let found: Vec<&(String, ColRef, bool)> =
            self.hints.unfilled.iter().filter(|(words, _, _)| about(words)).collect();
        let dated: Vec<&&(String, ColRef, bool)> = found.iter().filter(|(_, _, dated)| *dated).collect();
        match (&found[..], &dated[..]) {
            ([one], _) => Some(Meaning::Column(one.1, 2)),
            (_, [one]) => Some(Meaning::Column(one.1, 2)),
            _ => None,
        }
    }

    /// The only column of marks with gaps.
    pub fn rated(&self) -> Option<ColRef> {
        const MARKS: [&str; 6] = ["评分", "评价", "打分", "满意", "星级", "评星"];
        let mut found =
            self.hints.unfilled.iter().filter(|(words, _, _)| MARKS.iter().any(|m| words.contains(m)));
        found.next().filter(|_| found.next().is_none()).map(|(_, at, _)| *at)
    }

    /// A column of numbers that name one thing each.
    pub fn is_number(&self, at: ColRef) -> bool {
        self.hints.named.iter().any(|(column, _, role)| *column == at && *role == Role::Id)
    }

    /// A column of figures.
    pub fn is_figure(&self, at: ColRef) -> bool {
        self.hints.named.iter().any(|(column, _, role)| *column == at && *role == Role::Measure)
    }

    /// Whether a column has gaps.
    pub fn has_gaps(&self, at: ColRef) -> bool {
        self.hints.unfilled.iter().any(|(_, column, _)| *column == at)
    }

    /// The one dimension a character stands for after `哪种` and `各`: `假` of `假别`.
    pub fn grouped_by(&self, word: &str, tables_names: &[Mention]) -> Option<Meaning> {
        let asked =
            |m: &Mention| m.meanings.iter().any(|m| matches!(m, Meaning::Word(Word::Which | Word::By)));
        if !tables_names.last().is_some_and(asked) {
            return None;
        }
        let chars: Vec<char> = word.chars().collect();
        let entries = self.by_first.get(chars.first()?).map_or(&[][..], Vec::as_slice);
        let mut found: Vec<(&Vec<char>, ColRef)> = entries
            .iter()
            .filter(|(p, _)| p.len() <= 6 && p.starts_with(&chars) && p.iter().all(|c| is_cjk(*c)))
            .filter_map(|(p, m)| match m {
                Meaning::Column(at, 4) => Some((p, *at)),
                _ => None,
            })
            .collect();
        // `哪门课`, where there are `课程名称` and `课程类别`: the name.
        let name = |p: &[char]| p.ends_with(&['名', '称']) || p.ends_with(&['姓', '名']);
        if found.iter().any(|(_, at)| *at != found[0].1) {
            found.retain(|(p, _)| name(p));
        }
        let Some((_, at)) = found.first().copied() else { return self.ends_with(&chars) };
        found.iter().all(|(_, other)| *other == at).then_some(Meaning::Column(at, 2))
    }

    /// `所` of `供电所`: the only column called so by its last character.
    fn ends_with(&self, chars: &[char]) -> Option<Meaning> {
        let [last] = chars else { return None };
        let ends =
            |p: &[char]| (2..=6).contains(&p.len()) && p.ends_with(&[*last]) && p.iter().all(|c| is_cjk(*c));
        let mut found = self.by_first.values().flatten().filter_map(|(p, m)| match m {
            Meaning::Column(at, 4) if ends(p) => Some(*at),
            _ => None,
        });
        let at = found.next()?;
        found.all(|other| other == at).then_some(Meaning::Column(at, 2))
    }

    /// What a column is called.
    pub fn called(&self, at: ColRef) -> Option<&str> {
        self.hints.named.iter().find(|(column, _, _)| *column == at).map(|(_, words, _)| words.as_str())
    }

    /// The column that tells kinds apart, for `哪类用户`: `用电类别`, but no `客户类型` of cases.
    pub fn kinds_of(&self, noun: &str) -> Option<Meaning> {
        const KINDS: [&str; 6] = ["类别", "类型", "种类", "分类", "大类", "类"];
        let bare = |words: &str| KINDS.iter().find_map(|k| words.strip_suffix(k)).map(str::to_owned);
        let dimensions = self.hints.named.iter().filter(|(_, _, role)| *role == Role::Dimension);
        let kinds: Vec<(ColRef, String)> =
            dimensions.filter_map(|(at, words, _)| bare(words).map(|b| (*at, b))).collect();
        let entity = |m: &Meaning| matches!(m, Meaning::Concept(i) if self.hints.entities.contains(i));
        let thing = |bare: &str| {
            let chars: Vec<char> = bare.chars().collect();
            let entries = chars.first().and_then(|c| self.by_first.get(c)).map_or(&[][..], Vec::as_slice);
            entries.iter().any(|(p, m)| *p == chars && (entity(m) || matches!(m, Meaning::RowNoun(_))))
        };
        let own: Vec<&(ColRef, String)> = kinds.iter().filter(|(_, b)| b == noun).collect();
        let plain: Vec<&(ColRef, String)> = kinds.iter().filter(|(_, b)| !thing(b)).collect();
        match (&own[..], &plain[..]) {
            ([(at, _)], _) | ([], [(at, _)]) => Some(Meaning::Column(*at, 4)),
            _ => None,
        }
    }

    /// A name in the tables.
    fn names_something(&self, phrase: &str) -> bool {
        let chars: Vec<char> = phrase.chars().collect();
        let entries = chars.first().and_then(|c| self.by_first.get(c)).map_or(&[][..], Vec::as_slice);
        entries.iter().any(|(p, m)| {
            *p == chars && matches!(m, Meaning::Column(..) | Meaning::Value(..) | Meaning::RowNoun(_))
        })
    }

    /// `班组` where a column is called `班组长` and what else might be meant is called otherwise.
    pub(super) fn called_so(&self, name: &str, concept: &Concept, tables: &[Table]) -> Option<ColRef> {
        let grouping = matches!(concept.role, ConceptRole::Dimension | ConceptRole::Entity);
        if !grouping || name.chars().count() < 2 || !name.chars().all(is_cjk) {
            return None;
        }
        let columns = tables.iter().enumerate().flat_map(|(t, table)| {
            table.columns.iter().enumerate().map(move |(c, column)| (ColRef { table: t, column: c }, column))
        });
        let mut found = None;
        for (at, column) in columns {
            if column.has_concept(&concept.id) {
                if column.words.contains(name) {
                    return None;
                }
            } else if column.role == Role::Dimension && column.words.starts_with(name) {
                if found.is_some() {
                    return None;
                }
                found = Some(at);
            }
        }
        found
    }
}
