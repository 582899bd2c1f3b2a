//! What Chinese headers only hint at: nouns for what they number, verbs of flags and dates, amounts that came in, and
//! words that repeat what a figure is.

use crate::small::{ask, bench};
use crate::support::Bench;

fn cases() -> Bench {
    bench(
        "案件台账",
        "案号,收案日期,结案日期,案由,主办律师,律师费(元),已收律师费(元),结果\nA1,2024-01-02,2024-02-02,离婚,顾峰,100,50,胜诉\nA2,2024-01-05,,借贷,顾峰,200,150,\nA3,2024-02-02,2024-03-02,借贷,白露,300,300,败诉\nA4,2024-03-02,,离婚,白露,400,0,\nA5,2024-03-09,,离婚,白露,500,10,\n",
    )
}

fn power() -> Bench {
    bench(
        "抄表收费",
        "户号,用电类别,供电所,抄表月份,用电量(kWh),应收电费(元),实收电费(元),缴费方式,是否欠费\n61001,居民,城关所,2024-01-01,10,5,5,微信,否\n61001,居民,城关所,2024-02-01,20,10,0,,是\n61002,工业,大营所,2024-01-01,300,200,150,微信,是\n61002,工业,大营所,2024-02-01,400,260,260,营业厅,否\n61003,居民,大营所,2024-01-01,30,15,15,微信,否\n",
    )
}

#[test]
fn rows_go_by_everyday_nouns() {
    let mut bench = cases();
    assert!(ask(&mut bench, "所里一共接了多少案子").contains("**5**"));
    assert!(ask(&mut bench, "谁接的案子最多").contains("**白露**（3）"));
    assert!(ask(&mut bench, "一共收了多少案").contains("**5**"));
}

#[test]
fn what_was_not_done_is_where_its_date_is_empty() {
    let mut bench = cases();
    for asked in ["还没结的案子有几件", "没结案的有多少件", "有几个案子没结"] {
        assert!(ask(&mut bench, asked).contains("**3**"), "{asked}");
    }
    assert!(ask(&mut bench, "白露手里有几个案子没结").contains("**2**"));
}

#[test]
fn both_words_of_a_name_beat_one() {
    let mut bench = cases();
    assert!(ask(&mut bench, "已收的律师费是多少").contains("**510**"));
    assert!(ask(&mut bench, "律师费是多少").contains("**1,500**"));
    let mut bench = power();
    for asked in ["实际收上来多少电费？", "真正收到的电费一共多少", "实收的电费总共多少"]
    {
        assert!(ask(&mut bench, asked).contains("**430**"), "{asked}");
    }
    assert!(ask(&mut bench, "该收的电费一共多少").contains("**490**"));
}

#[test]
fn a_character_names_a_column_and_kinds_are_no_people() {
    let mut bench = power();
    assert!(ask(&mut bench, "哪个所收上来的电费最多").contains("**大营所**（425）"));
    assert!(ask(&mut bench, "哪类用户用电最多").contains("**工业**（700）"));
}

#[test]
fn what_became_of_something_is_still_no_verb_to_pass_over() {
    let mut bench = cases();
    assert!(ask(&mut bench, "驳回了多少件").contains("没有理解"));
    assert!(ask(&mut bench, "超期了多少件").contains("没有理解"));
}

fn homes() -> Bench {
    bench(
        "房屋信息",
        "房号,楼栋,建筑面积(㎡),是否出租,户型,挂牌天数,评分\n1-101,1号楼,88,是,三室,3,5\n1-102,1号楼,120,否,两室,40,\n1-103,1号楼,95,是,三室,9,4\n2-101,2号楼,60,否,一室,12,\n2-102,2号楼,140,否,三室,90,3\n",
    )
}

#[test]
fn a_flag_goes_by_its_verb_and_unknown_states_are_not_passed_over() {
    let mut bench = homes();
    assert!(ask(&mut bench, "租出去的房子有几套").contains("**2**"));
    assert!(!ask(&mut bench, "还欠着的房子有几套").contains("**"));
}

#[test]
fn numbers_may_be_written_in_characters() {
    let mut bench = homes();
    assert!(ask(&mut bench, "挂牌超过十天的有几套").contains("**3**"));
    assert!(ask(&mut bench, "挂牌天数四十天以上的有几套").contains("**2**"));
    assert!(ask(&mut bench, "面积一百平以上的有多少套").contains("**2**"));
    assert!(ask(&mut bench, "100平以上的房子有多少").contains("**2**"));
}

#[test]
fn values_and_gaps_have_everyday_names() {
    let mut bench = homes();
    assert!(ask(&mut bench, "三居室有多少套").contains("**3**"));
    assert!(ask(&mut bench, "没打分的有几套").contains("**2**"));
    assert!(ask(&mut bench, "评分那一栏空着的有几条").contains("**2**"));
}

#[test]
fn what_was_taken_off_did_not_come_in() {
    let mut bench = bench(
        "奶茶订单",
        "订单号,下单日期,饮品,始发仓,数量(杯),优惠金额(元),实付金额(元)\nN1,2024-01-02,奶绿,苏州仓,1,9,10\nN2,2024-01-03,奶绿,苏州仓,3,0,30\nN3,2024-01-04,柠茶,天津仓,2,1,50\n",
    );
    assert!(ask(&mut bench, "一共收了多少钱").contains("**90**"));
    assert!(ask(&mut bench, "两杯以上的订单有多少").contains("**2**"));
    assert!(ask(&mut bench, "哪个仓单子最多").contains("**苏州仓**（2）"));
}
