//! Classes of Chinese wording: classifiers, verbs before a count, words about the form of an answer, what was recorded.

use crate::small::{ask, bench};
use crate::support::Bench;

fn pharmacy() -> Bench {
    let mut text = String::from("销售日期,门店,小票号,药品名称,药品分类,数量,零售价,实收金额,会员卡号\n");
    for (at, (shop, drug, pieces, member)) in [
        ("东店", "感冒灵颗粒", 2, "V1"),
        ("东店", "维生素C", 5, ""),
        ("西店", "感冒灵颗粒", 1, "V2"),
        ("南店", "创可贴", 4, "V1"),
        ("南店", "维生素C", 1, ""),
        ("西店", "创可贴", 3, "V2"),
    ]
    .into_iter()
    .enumerate()
    {
        let day = at + 1;
        let paid = pieces * 10;
        text.push_str(&format!("2024-03-0{day},{shop},P{at},{drug},常用药,{pieces},10,{paid},{member}\n"));
    }
    bench("药店销售", &text)
}

fn courses() -> Bench {
    bench(
        "培训报名",
        "报名编号,报名日期,校区,课程名称,课程类别,实缴学费,学员来源,结业成绩,是否结清\nR1,2024-01-02,东湖,会计,财会,1000,抖音,80,是\nR2,2024-01-12,东湖,设计,艺术,2000,转介绍,,否\nR3,2024-02-02,光谷,会计,财会,1000,抖音,70,是\nR4,2024-02-12,光谷,会计,财会,1000,地推,,是\n",
    )
}

#[test]
fn pieces_are_added_up_and_papers_are_counted() {
    let mut bench = pharmacy();
    assert!(ask(&mut bench, "感冒灵颗粒一共卖出多少盒").contains("**3**"));
    assert!(ask(&mut bench, "东店卖了几瓶").contains("**7**"));
    assert!(ask(&mut bench, "3月消费了多少笔").contains("**6**"));
    assert!(ask(&mut bench, "会员消费了多少笔？就是有会员卡号的").contains("**4**"));
    assert!(ask(&mut bench, "一共有多少种药品").contains("**3**"));
}

#[test]
fn everyday_nouns_name_the_goods() {
    let mut bench = pharmacy();
    assert!(ask(&mut bench, "数量最多的商品是哪个").contains("**创可贴**"));
    assert!(ask(&mut bench, "哪种药卖得最多（按数量）").contains("**创可贴**"));
    let mut bench = courses();
    assert!(ask(&mut bench, "哪门课报名的人最多").contains("**会计**"));
    assert!(ask(&mut bench, "每门课有多少人报名，帮我排个序").contains("**会计**（3）"));
}

#[test]
fn words_about_the_answer_change_no_figure() {
    let mut bench = pharmacy();
    for asked in [
        "麻烦帮我看看东店总共收了多少钱，保留两位小数",
        "请问东店一共收了多少钱呢，四舍五入到整数就行",
        "帮忙算一下东店的实收金额合计，精确到小数点后两位",
        "东店大概一共收了多少钱？给个数字即可",
    ] {
        let said = ask(&mut bench, asked);
        assert!(said.contains("**70**"), "{asked}: {said}");
    }
    assert!(!ask(&mut bench, "东店快过期的药有多少").contains("**"));
}

#[test]
fn all_of_them_are_added_up_or_set_side_by_side() {
    let mut bench = pharmacy();
    assert!(ask(&mut bench, "三家门店总共收了多少钱").contains("**160**"));
    let each = bench.ask(&[], "三家门店的实收金额对比").report.content;
    assert!(each.contains("| 东店 | 70 |"), "{each}");
}

#[test]
fn what_was_not_recorded_is_counted() {
    let mut bench = courses();
    assert!(ask(&mut bench, "结业成绩没有登记的有多少人").contains("**2**"));
    assert!(ask(&mut bench, "有几条没填结业成绩").contains("**2**"));
    assert!(ask(&mut bench, "有结业成绩的学费合计").contains("**2,000**"));
}

#[test]
fn the_head_of_a_compound_decides() {
    let mut bench = courses();
    assert!(ask(&mut bench, "2024年的报名人数").contains("**4**"));
    let months = bench.ask(&[], "每月收入的趋势").report.content;
    assert!(months.contains("| 2024-01 | 3,000 |"), "{months}");
}

#[test]
fn what_is_denied_or_had_limits_the_rows() {
    let mut bench = pharmacy();
    assert!(ask(&mut bench, "没用会员卡的消费有几笔").contains("**2**"));
    assert!(ask(&mut bench, "没有会员卡号的有多少笔").contains("**2**"));
    assert!(ask(&mut bench, "每位会员平均花了多少钱").contains("**50**"));
    assert!(!ask(&mut bench, "东店和非东店的收入各是多少").contains("**"));
}

#[test]
fn values_are_added_up_where_they_are_said_together() {
    let mut bench = pharmacy();
    assert!(ask(&mut bench, "东店和西店一共收了多少钱").contains("**110**"));
    let each = bench.ask(&[], "东店和西店各收了多少钱").report.content;
    assert!(each.contains("| 东店 | 70 |"), "{each}");
    assert!(ask(&mut bench, "感冒灵颗粒占全部实收金额的百分之几").contains("**18.75%**"));
}

#[test]
fn bounds_said_again_and_kinds_are_exact() {
    let mut bench = pharmacy();
    assert!(ask(&mut bench, "实收金额30元以上的有几单（不含30元）").contains("**2**"));
    assert!(ask(&mut bench, "实收金额30元以上的药有几种").contains("**2**"));
    assert!(ask(&mut bench, "一单最多买了几件").contains("**5**"));
}
