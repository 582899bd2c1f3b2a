//! Where the tables end: questions that look answerable and are not, beside near ones that are. SPEC L3.

use crate::small::{ask, bench};
use crate::support::Bench;

fn refused(bench: &mut Bench, questions: &[&str]) {
    for question in questions {
        let answer = ask(bench, question);
        assert!(!answer.contains("**"), "{question}: {answer}");
    }
}

fn shop() -> Bench {
    let mut text = String::from("order_no,sold_on,branch,dish,guest,qty,total_usd,duration_min\n");
    let dishes = ["Salmon", "Ribeye", "Soup"];
    for i in 0..30 {
        let (branch, guest) = (if i % 2 == 0 { "Harbor" } else { "Eastside" }, i % 3 == 0);
        text += &format!(
            "O{},2024-{:02}-11,{branch},{},{},{},{}.5,{}\n",
            i + 100,
            1 + i % 6,
            dishes[i % 3],
            if guest { "yes" } else { "no" },
            1 + i % 4,
            20 + i,
            15 + i % 7
        );
    }
    bench("orders", &text)
}

fn clinic() -> Bench {
    let mut text = String::from("就诊号,日期,院区,科室,患者编号,总费用(元),短信已发,成本单价\n");
    for i in 0..30 {
        let sent = if i % 5 == 0 { "否" } else { "是" };
        text += &format!(
            "V{},2024-0{}-05,{},{},P{},{},{sent},{}\n",
            i + 100,
            1 + i % 6,
            if i % 2 == 0 { "东院" } else { "西院" },
            ["内科", "骨科", "中医科"][i % 3],
            i % 12,
            100 + i,
            30 + i % 4
        );
    }
    bench("门诊", &text)
}

#[test]
fn a_thing_that_is_not_kept_gets_no_figure() {
    let mut shop = shop();
    refused(
        &mut shop,
        &[
            "How much water did Harbor use in March 2024?",
            "How many kilos of salmon did we throw away?",
            "How many docks does Harbor have?",
            "What did we spend on plumbing repairs at Harbor?",
            "What is the name of the chef at Eastside?",
        ],
    );
    let mut clinic = clinic();
    refused(
        &mut clinic,
        &[
            "东院三月份电费多少？",
            "骨科一共请了多少天病假？",
            "西院住着多少户人家？",
            "中医科的零售价定的多少？",
            "骨科的患者现在恢复到第几层了？",
        ],
    );
}

#[test]
fn the_outside_world_and_yes_or_no_get_no_figure() {
    let mut shop = shop();
    refused(
        &mut shop,
        &[
            "What do other restaurants nearby charge for a ribeye?",
            "Is Salmon on the New York Times list?",
            "Who was the best selling guest at Harbor?",
        ],
    );
    let mut clinic = clinic();
    refused(&mut clinic, &["隔壁医院骨科收费多少？", "骨科是个好科室吗？"]);
}

#[test]
fn money_that_goes_the_other_way_gets_no_figure() {
    let mut shop = shop();
    refused(
        &mut shop,
        &[
            "What did we pay for each Salmon we sold at Harbor?",
            "What did UPS bill us for Eastside?",
            "How much did the insurers reimburse us for Soup?",
        ],
    );
    let why = ask(&mut shop, "What did we pay for each Salmon we sold at Harbor?");
    assert!(why.starts_with("The tables do not seem to hold"), "{why}");
    assert!(ask(&mut shop, "How much did Salmon bring in at Harbor?").contains("**162.5**"));
}

#[test]
fn near_questions_are_answered() {
    let mut shop = shop();
    assert!(ask(&mut shop, "orders over $40 - how many?").contains("**10**"));
    assert!(ask(&mut shop, "How many orders took more than 20 minutes?").contains("**4**"));
    assert!(ask(&mut shop, "How many minutes did Harbor orders take in total?").contains("**267**"));
    assert!(ask(&mut shop, "List the three orders with the highest total").starts_with("The 3 order_no"));
    let mut clinic = clinic();
    assert!(ask(&mut clinic, "短信没发的有多少个").contains("**6**"));
    assert!(ask(&mut clinic, "数据质量怎么样").contains("30"));
}

#[test]
fn the_judge_sees_the_shape_of_a_question_and_no_names() {
    let mut bench = shop();
    let harbor = bench.marks(&[], "How many orders did Harbor have?");
    assert!(harbor.contains(&"u:<only>".to_owned()) && harbor.contains(&"m:Rows".to_owned()), "{harbor:?}");
    assert!(!harbor.iter().any(|m| m.contains("harbor")), "{harbor:?}");
    assert_eq!(harbor, bench.marks(&[], "How many orders did Eastside have?"));
}
