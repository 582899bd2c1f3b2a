//! The shipped skills as a server loads them (SPEC S6). Their scripts are run where the sandbox is: in `ba-tools`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ba_skills::catalog::{Catalog, Root, Trust};
use ba_skills::ledger::Ledger;
use ba_skills::levels::{self, LIST_BUDGET};
use ba_skills::{Limits, Skill, Source};

const SHIPPED: [&str; 12] = [
    "anomaly-detection",
    "change-attribution",
    "cohort-retention",
    "data-quality-report",
    "echarts-design",
    "executive-report",
    "financial-ratios",
    "forecasting",
    "funnel-analysis",
    "pareto-abc",
    "rfm-customer-value",
    "trend-growth",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills")
}

fn shipped() -> Vec<Arc<Skill>> {
    let root = Root { path: folder(), source: Source::Shipped, trust: Trust::Always };
    let catalog = Catalog::scan(&[root], &Ledger::default(), &Limits::default(), &mut Default::default());
    assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
    catalog.active_skills().cloned().collect()
}

/// Four characters or one ideograph to a token: a little more than the real count.
fn tokens(text: &str) -> usize {
    let wide = text.chars().filter(|c| *c as u32 > 0x2e80).count();
    wide * 5 / 4 + (text.chars().count() - wide) / 3
}

#[test]
fn all_twelve_load_without_warnings() {
    let skills = shipped();
    let names: Vec<&str> = skills.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, SHIPPED);
    for skill in &skills {
        assert!(skill.warnings.is_empty(), "{}: {:?}", skill.name, skill.warnings);
        assert_eq!(skill.dir.file_name().unwrap().to_str(), Some(skill.name.as_str()));
        assert!(skill.front.description.is_ascii(), "{}: descriptions are in English", skill.name);
        assert!(!skill.front.keywords.is_empty(), "{}: Chinese questions need Chinese keywords", skill.name);
        for part in ["## 方法", "## 示例", "## 常见错误"] {
            assert!(skill.body.contains(part), "{} has no {part}", skill.name);
        }
        assert!(tokens(&skill.body) < 3_300, "{}: {} tokens", skill.name, tokens(&skill.body));
    }
}

#[test]
fn their_list_fits_the_budget_whole() {
    let list = levels::list(&shipped(), "", LIST_BUDGET, &tokens);
    assert!(!list.ranked && list.left_out == 0 && list.tokens <= LIST_BUDGET, "{} tokens", list.tokens);
}

#[test]
fn questions_find_their_skill() {
    let skills = shipped();
    let skills: Vec<&Skill> = skills.iter().map(Arc::as_ref).collect();
    for (question, expected) in [
        ("今年收入同比增长多少，有没有季节性？", "trend-growth"),
        ("这周订单突然下降，是不是异常？", "anomaly-detection"),
        ("毛利率下降是价格还是产品结构造成的", "change-attribution"),
        ("看看每月新用户的留存", "cohort-retention"),
        ("从浏览到支付各步的转化率", "funnel-analysis"),
        ("哪些客户最有价值，做客户分层", "rfm-customer-value"),
        ("二八法则，哪些产品贡献了大部分销售额", "pareto-abc"),
        ("预测下个季度的销量", "forecasting"),
        ("分析资产负债表，做杜邦分析", "financial-ratios"),
        ("检查这份数据的缺失和重复", "data-quality-report"),
        ("用 ECharts 画一个瀑布图", "echarts-design"),
        ("写一份给管理层的汇报", "executive-report"),
        ("forecast next quarter's sales", "forecasting"),
        ("which customers churned, by cohort", "cohort-retention"),
    ] {
        let best = ba_skills::rank::by_question(&skills, question)[0];
        assert_eq!(skills[best].name.as_str(), expected, "{question}");
    }
}

#[test]
fn nothing_they_mention_is_missing() {
    let names: Vec<String> = SHIPPED.iter().map(ToString::to_string).collect();
    for skill in shipped() {
        for (path, _) in skill.scripts() {
            let shown = levels::sandbox_path(&skill, path);
            assert!(skill.body.contains(&shown), "{} does not say how to run {shown}", skill.name);
        }
        for word in skill.body.split(|c: char| !(c.is_ascii_alphanumeric() || "-_./".contains(c))) {
            if word.starts_with("references/") || word.starts_with("scripts/") {
                assert!(skill.files.iter().any(|f| f.path == word), "{} mentions {word}", skill.name);
            }
        }
        for nested in skill.body.split("activate_skill(").skip(1).filter_map(|s| s.split(')').next()) {
            let name = nested.trim_matches(['"', '`', ' ']);
            assert!(names.iter().any(|n| n == name), "{} activates `{name}`", skill.name);
        }
    }
}
