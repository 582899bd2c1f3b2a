//! A word that names a value limits the rows, whatever else it means; two questions get two answers.

use crate::small::{ask, bench};
use crate::support::Bench;

fn meters() -> Bench {
    bench(
        "meters",
        "Read Date,Plant,Utility,Usage (kWh),Charge (USD)\n2024-01-05,North,Electricity,100,20\n2024-01-06,North,Gas,900,40\n2024-02-05,Harbour,Electricity,300,70\n2024-02-06,Harbour,Gas,200,10\n",
    )
}

fn members() -> Bench {
    bench(
        "members",
        "member_id,signup_date,cancel_date,tier,payment_plan,branch,fee,status\nM1,2022-01-05,2023-02-01,Gold,Annual,Leeds,90,Cancelled\nM2,2022-03-05,,Gold,Monthly,Leeds,90,Active\nM3,2023-03-07,2024-01-09,Basic,Monthly,York,30,Cancelled\nM4,2023-04-01,,Basic,Monthly,Hull,30,Active\nM5,2023-05-01,2023-09-01,Basic,Annual,Hull,30,Cancelled\n",
    )
}

fn repairs() -> Bench {
    bench(
        "报修",
        "报修单号,报修日期,报修类别,维修人员,报修渠道,当前状态,完工日期,处理时长h,材料费(元),评分\nB1,2024-01-02,电梯,周强,微信,已完工,2024-01-09,12,100,5\nB2,2024-01-03,空调,周强,电话,已派单,,2,50,4\nB3,2024-01-30,电梯,马丽,微信,已完工,2024-02-02,30,300,5\nB4,2024-02-03,电梯,周强,前台,待派单,,8,10,3\n",
    )
}

#[test]
fn a_value_inside_a_phrase_still_limits_the_rows() {
    let mut bench = meters();
    assert!(ask(&mut bench, "Which plant uses the most electricity?").contains("**Harbour** (300)"));
    assert!(ask(&mut bench, "total electricity consumption").contains("**400**"));
    assert!(ask(&mut bench, "total charge in 2024").contains("**140**"));
    assert!(ask(&mut bench, "total charge for electricity").contains("**90**"));
}

#[test]
fn a_status_has_a_date_of_its_own() {
    let mut bench = members();
    assert!(ask(&mut bench, "How many members cancelled in 2023?").contains("**2**"));
    assert!(
        ask(&mut bench, "By how much did sign-ups grow in 2023 compared with 2022?")
            .contains("**3** in 2023")
    );
    let mut bench = repairs();
    assert!(ask(&mut bench, "已经完工的有几单").contains("**2**"));
    assert!(ask(&mut bench, "2024年2月完工的有几单").contains("**1**"));
}

#[test]
fn a_period_may_be_a_value() {
    let mut bench = members();
    assert!(ask(&mut bench, "what share of members pay annually").contains("**40%**"));
    assert!(ask(&mut bench, "what share of members pay monthly").contains("**60%**"));
}

#[test]
fn a_column_that_makes_no_difference_does_not_group() {
    let mut bench = members();
    assert!(ask(&mut bench, "how many members per tier, all statuses together").contains("**Basic** (3)"));
    assert!(
        ask(&mut bench, "whatever their status, which tier has the most members?").contains("**Basic** (3)")
    );
    let mut bench = repairs();
    assert!(ask(&mut bench, "不分状态，各报修类别的报修数量").contains("**电梯**（3）"));
}

#[test]
fn two_questions_get_two_figures_or_none() {
    let mut bench = repairs();
    let both = ask(&mut bench, "通过微信报修的有多少单，材料费合计多少");
    assert!(both.contains("**2**") && both.contains("**400**"), "{both}");
    assert!(!ask(&mut bench, "微信报修的有多少单，完工的电梯有几单").contains("**"));
    let mut bench = members();
    let both = ask(&mut bench, "how many gold members are there and how much do they pay in total?");
    assert!(both.contains("**2**") && both.contains("**180**"), "{both}");
}

#[test]
fn the_most_of_what_is_counted_is_a_count() {
    let mut bench = repairs();
    assert!(ask(&mut bench, "谁修的单最多").contains("**周强**（3）"));
    assert!(ask(&mut bench, "各类别的平均处理时长").contains("**电梯**"));
    assert!(ask(&mut bench, "前2大报修类别贡献了多少比例的材料费").contains("**100%**（460）"));
    assert!(
        ask(&mut members(), "Of the cancelled members, which tier accounts for the most?").contains("(2)")
    );
}

#[test]
fn a_bound_holds_for_the_column_in_its_unit_or_for_none() {
    let mut bench = repairs();
    assert!(ask(&mut bench, "超过600分钟的报修有几单").contains("**2**"));
    assert!(!ask(&mut bench, "超过3公斤的报修有几单").contains("**"));
    assert!(!ask(&mut meters(), "fuel per kWh").contains("**"));
}
