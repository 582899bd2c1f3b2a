//! Operations over time, rows and groups: each must be part of the answer, or there is none.

use crate::small::{ask, bench};
use crate::support::{Bench, answer};

fn gifts() -> Bench {
    bench(
        "gifts",
        "gift_id,gift_date,donor_id,state,amount,matched_amount\nG1,2022-03-05,D1,Ohio,100,0\nG2,2022-07-09,D2,Utah,50,10\nG3,2023-01-20,D1,Ohio,200,0\nG4,2023-07-02,D3,Ohio,40,20\nG5,2023-08-11,D2,Utah,60,0\nG6,2024-01-15,D4,Utah,500,0\nG7,2024-03-08,D1,Ohio,30,30\nG8,2024-07-21,D5,Ohio,80,0\nG9,2024-08-02,D3,Utah,70,0\n",
    )
}

fn shop() -> Bench {
    bench(
        "门店销售",
        "销售日期,小票号,门店,会员号,年龄,销售额\n2023-07-03,T1,东店,M1,20,100\n2023-08-05,T2,西店,M2,31,100\n2024-06-09,T3,东店,M1,20,50\n2024-07-11,T4,西店,M3,44,150\n2024-08-21,T5,东店,M4,52,130\n",
    )
}

#[test]
fn times_listed_together_are_added_up() {
    assert!(ask(&mut gifts(), "amount in July and August 2023 in total").contains("**100**"));
    assert!(ask(&mut gifts(), "Total amount in July and August 2023").contains("**100**"));
    let said = ask(&mut shop(), "2024年7月和8月合计销售额同比增长率是多少");
    assert!(said.contains("280") && said.contains("+40%"), "{said}");
    let said = answer(&gifts().ask(&[], "amount in January, March and July 2024").report.content);
    assert!(said.contains("2024-01 / 2024-03 / 2024-07"), "{said}");
}

#[test]
fn a_period_is_compared_with_its_own_past() {
    let mut bench = gifts();
    let to_date = "Year to date, by what percentage is the amount up on the same period last year?";
    // 2023-01-01 to 2023-08-02 against 2024-01-01 to 2024-08-02.
    assert!(ask(&mut bench, to_date).contains("680") && ask(&mut bench, to_date).contains("240"));
    let before = ask(&mut bench, "How did the amount in 2023 compare with the year before?");
    assert!(before.contains("**300** in 2023, 150 in 2022"), "{before}");
    assert!(ask(&mut shop(), "2024年6月到8月销售额同比").contains("+65%"));
}

#[test]
fn a_time_may_be_the_part_of_a_share() {
    assert!(ask(&mut gifts(), "What share of the 2024 amount came in January 2024?").contains("**73.53%**"));
    assert!(ask(&mut gifts(), "what percentage of the total amount came in 2022").contains("**13.27%**"));
}

#[test]
fn the_largest_row_is_no_group() {
    let said = ask(&mut gifts(), "Which donor gave the largest gift?");
    assert!(said.contains("**D4**") && said.contains("**500**"), "{said}");
    let said = ask(&mut shop(), "最大和最小的销售额分别是多少");
    assert!(said.contains("**150**") && said.contains("**50**"), "{said}");
    let said = ask(&mut gifts(), "smallest and largest amount?");
    assert!(said.contains("**500**") && said.contains("**30**"), "{said}");
}

#[test]
fn newcomers_are_counted_once() {
    let mut bench = gifts();
    assert!(ask(&mut bench, "how many new donors in 2024?").contains("**2**"));
    let full = bench.ask(&[], "Take the year of each donor's first gift: how many donors each year?");
    let full = full.report.content;
    assert!(full.contains("| 2022 | 2 |") && full.contains("| 2023 | 1 |"), "{full}");
    assert!(ask(&mut shop(), "2024年新增会员有多少").contains("**2**"));
}

#[test]
fn a_follow_up_keeps_the_year() {
    let mut bench = gifts();
    let earlier = ["amount in the first half of 2023".to_owned()];
    let said = answer(&bench.ask(&earlier, "And in the second half?").report.content);
    assert!(said.contains("**100**") && said.contains("2023-H2"), "{said}");
}

#[test]
fn a_mean_per_period_is_of_its_sums() {
    assert!(ask(&mut gifts(), "On average how many gifts a year do we get?").contains("**3**"));
    assert!(ask(&mut gifts(), "how much amount do we get a year?").contains("**376.67**"));
    assert!(ask(&mut gifts(), "median gift amount overall").contains("**70**"));
}
