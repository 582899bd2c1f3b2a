//! Classes of English wording: words that say nothing, verbs that name a value, a date or an amount, nouns that count.

use crate::small::{ask, bench};
use crate::support::Bench;

fn visits() -> Bench {
    let mut text = String::from(
        "visit_id,visit_date,clinician,reason,status,minutes,visit_fee,meds_cost,total_bill,insured,on_time\n",
    );
    let kinds = ["Surgery", "Check-up", "Vaccination", "Dental", "Injury", "Follow-up", "Grooming"];
    for at in 0..28 {
        let kind = kinds[at % 7];
        let doctor = ["Lee", "Okoro"][at % 2];
        let status = ["Completed", "Cancelled", "Completed", "No-show"][at % 4];
        let (insured, late) = (["Y", "N"][at % 2], ["Y", "N", "Y", "Y", "N"][at % 5]);
        let (day, fee) = (1 + at, 10 + at);
        let row = format!(
            "V{at},2024-01-{day:02},{doctor},{kind},{status},30,{fee},5,{},{insured},{late}\n",
            fee + 5
        );
        text.push_str(&row);
    }
    bench("vet_visits", &text)
}

fn trips() -> Bench {
    bench(
        "trips",
        "trip_id,departure_date,arrival_date,start_station,end_station,bike_type,distance_km,fare\n1,2024-01-05,2024-02-05,Mill,Park,Classic,2,10\n2,2024-01-09,2024-02-06,Park,Mill,Classic,4,20\n3,2024-02-03,2024-03-01,Park,Mill,E-bike,9,30\n4,2024-02-08,2024-03-02,Mill,Quay,E-bike,1,40\n5,2024-02-09,2024-03-09,Quay,Mill,Classic,7,50\n",
    )
}

#[test]
fn words_that_say_nothing_are_passed_over_and_conditions_are_not() {
    let mut bench = trips();
    for asked in [
        "Total fares since the start?",
        "what do fares actually come to, all told",
        "Roughly speaking, total fare, just the number please",
        "If you add up the fares, what is the total?",
        "I was wondering, total fare to date, rounded",
    ] {
        assert!(ask(&mut bench, asked).contains("**150**"), "{asked}");
    }
    for asked in [
        "How many trips were stolen?",
        "How many trips were manually entered?",
        "Total helmets since the start?",
        "What do riders think of the fares?",
    ] {
        let said = ask(&mut bench, asked);
        assert!(!said.chars().any(|c| c.is_ascii_digit()), "{asked} {said}");
    }
}

#[test]
fn a_verb_may_name_a_value_or_deny_a_flag() {
    let mut bench = visits();
    assert!(ask(&mut bench, "How many visits did Lee complete?").contains("**14**"));
    assert!(ask(&mut bench, "How many cancellations were there?").contains("**7**"));
    assert!(ask(&mut bench, "how many surgeries did Lee do").contains("**2**"));
    assert!(ask(&mut bench, "How many visits were late?").contains("**11**"));
    assert!(ask(&mut bench, "What share of visits were by insured pets?").contains("**50%**"));
}

#[test]
fn a_verb_tells_which_date_and_which_end() {
    let mut bench = trips();
    assert!(ask(&mut bench, "How many trips departed in February 2024?").contains("**3**"));
    assert!(ask(&mut bench, "How many trips arrived in February 2024?").contains("**2**"));
    assert!(ask(&mut bench, "How many trips ended at Mill?").contains("**3**"));
    assert!(ask(&mut bench, "How many trips began at Mill?").contains("**2**"));
}

#[test]
fn billing_is_the_amount_and_visits_are_rows() {
    let mut bench = visits();
    let total = 28 * 15 + (0..28).sum::<i32>();
    assert!(ask(&mut bench, "How much did we bill in total?").contains(&format!("**{total}**")));
    assert!(ask(&mut bench, "What was our total billing?").contains(&format!("**{total}**")));
    assert!(ask(&mut bench, "How many visits did we have?").contains("**28**"));
    assert!(ask(&mut bench, "how much has each clinician billed").contains("**Okoro**"));
}

#[test]
fn number_words_limit_and_bound() {
    let mut bench = trips();
    let two = bench.ask(&[], "List the two trips with the highest fare").report.content;
    assert!(two.contains("50") && two.contains("40") && !two.contains("| 30"), "{two}");
    assert!(ask(&mut bench, "How many trips have a distance above two km?").contains("**3**"));
    assert!(ask(&mut bench, "Which bike type covered the most kilometres?").contains("**Classic** (13)"));
    assert!(ask(&mut bench, "median distance per trip").contains("**4**"));
}

fn loans() -> Bench {
    let mut text = String::from(
        "Loan ID,Checkout Date,Branch,Format,Patron ID,Patron Type,Renewals,Days Overdue,Late Fee,Fine,Driver\n",
    );
    for at in 0..24 {
        let (format, kind) = (["Paperback", "DVD", "Paperback"][at % 3], ["Child", "Adult"][at % 2]);
        let (renewals, overdue) = (at % 4, if at % 6 == 0 { at + 1 } else { 0 });
        let (fee, fine, driver) = (if at % 8 == 0 { 2 } else { 0 }, overdue * 2, ["Sal", "Kim"][at % 2]);
        text.push_str(&format!(
            "L{at},2024-0{}-10,Central,{format},P{},{kind},{renewals},{overdue},{fee},{fine},{driver}\n",
            1 + at % 6,
            at % 9
        ));
    }
    bench("library_loans", &text)
}

#[test]
fn rows_that_have_some_of_a_figure_are_told_from_all_rows() {
    let mut bench = loans();
    assert!(ask(&mut bench, "How many loans were renewed?").contains("**18**"));
    assert!(ask(&mut bench, "How many loans were renewed at least once?").contains("**18**"));
    assert!(ask(&mut bench, "How many loans had a late fee charged?").contains("**3**"));
    assert!(ask(&mut bench, "What is the average fine for overdue loans?").contains("**20**"));
}

#[test]
fn people_and_plurals_are_nouns_for_what_the_rows_hold() {
    let mut bench = loans();
    assert!(ask(&mut bench, "How many loans were by children?").contains("**12**"));
    assert!(ask(&mut bench, "How many books were borrowed?").contains("**24**"));
    assert!(ask(&mut bench, "which format is the most borrowed").contains("**Paperback** (16)"));
    let sales = ask(&mut bench, "total sales by format");
    assert!(!sales.contains("Sal)"), "{sales}");
}
