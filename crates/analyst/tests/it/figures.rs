//! Which figure is meant where several could be, and which rows a bound keeps.

use crate::small::{ask, bench};
use crate::support::{Bench, answer};

fn mill() -> Bench {
    bench(
        "mill_runs",
        "Run Date,Line,Scrap Units,Units Produced,Energy (kWh)\n2024-01-05,North,5,100,11\n2024-03-06,South,7,100,12\n2024-08-05,North,9,110,13\n2024-09-06,South,4,120,14\n",
    )
}

fn stays() -> Bench {
    bench(
        "hotel_bookings",
        "Booking Ref,Arrival Date,Nights,Country,Guests,Total (EUR)\nS1,2023-01-05,2,Spain,2,200\nS2,2023-06-05,7,Spain,1,700\nS3,2024-01-05,9,Malta,2,900\nS4,2024-02-05,1,Malta,4,100\nS5,2024-03-05,3,Malta,2,300\n",
    )
}

fn orders() -> Bench {
    bench(
        "purchase_orders",
        "po_number,po_date,vendor_id,category,buyer,qty,unit_cost_gbp,total_cost_gbp,vendor_invoice_no\nP1,2023-01-04,V1,IT,Karen,2,50,100,881\nP2,2023-05-04,V2,IT,Karen,3,100,300,882\nP3,2024-02-04,V1,Office,Joan,4,200,800,881\nP4,2024-03-04,V3,Office,Joan,1,20,20,884\nP5,2024-04-04,V4,Office,Joan,1,30,30,882\n",
    )
}

#[test]
fn the_verb_tells_columns_of_one_noun_apart() {
    let mut bench = mill();
    assert!(ask(&mut bench, "How many units did we produce in 2024?").contains("**430**"));
    assert!(ask(&mut bench, "How many units were scrapped?").contains("**25**"));
    assert!(ask(&mut bench, "How many units in total?").contains("**430**"));
    let more = "How many percent more units were produced in the second half of 2024 than in the first half?";
    assert!(ask(&mut bench, more).contains("15%"), "{}", ask(&mut bench, more));
}

#[test]
fn a_number_of_something_ranks() {
    assert!(ask(&mut stays(), "Which country has the most nights?").contains("**Malta** (13)"));
    let said = ask(&mut stays(), "top 2 countries by number of nights");
    assert!(said.contains("**Malta** (13)") && said.contains("**Spain** (9)"), "{said}");
}

#[test]
fn a_bound_may_come_after_its_unit() {
    let mut bench = stays();
    assert!(ask(&mut bench, "How many bookings stay 7 nights or longer?").contains("**2**"));
    assert!(ask(&mut bench, "How many bookings are 3 nights or fewer?").contains("**3**"));
    assert!(ask(&mut bench, "Total EUR of bookings with more than 1 guest").contains("**1,500**"));
}

#[test]
fn a_bounded_figure_may_be_asked_for_as_well() {
    let mut bench = orders();
    assert!(ask(&mut bench, "year to date total cost").contains("**850**"));
    assert!(ask(&mut bench, "Total cost since the start of 2024").contains("**850**"));
}

#[test]
fn values_of_several_rows_are_counted() {
    let mut bench = orders();
    assert!(ask(&mut bench, "How many vendor invoice numbers appear more than once?").contains("**2**"));
    assert!(ask(&mut bench, "How many vendors were used only once?").contains("**3**"));
    assert!(ask(&mut bench, "How many orders did Joan place?").contains("**3**"));
    assert!(ask(&mut bench, "How many POs make up 80% of total cost?").contains("top **2** of 5 po_number"));
    assert!(
        ask(&mut bench, "How many vendors make up 80% of our total cost?")
            .contains("top **2** of 4 vendor_id")
    );
}

#[test]
fn money_is_not_told_by_pieces() {
    let mut bench = mill();
    for question in
        ["How much did the scrap cost us in euros?", "Total scrap in dollars", "What did the scrap cost?"]
    {
        assert!(!ask(&mut bench, question).contains("25"), "{question}");
    }
}

#[test]
fn the_value_of_a_row_is_its_amount() {
    let mut bench = orders();
    assert!(ask(&mut bench, "total value of Office orders").contains("**850**"));
}

#[test]
fn a_flag_beside_an_amount_shares_the_amount() {
    let mut bench = bench(
        "orders",
        "order_id,order_date,supplier,certified,total_cost\n1,2024-01-01,Ash,yes,100\n2,2024-01-02,Elm,no,200\n3,2024-01-03,Oak,yes,100\n4,2024-01-04,Fir,no,400\n",
    );
    let asked = "How much of our spend went to certified suppliers, as a percentage of total cost?";
    assert!(ask(&mut bench, asked).contains("**25%**"), "{}", ask(&mut bench, asked));
    assert!(ask(&mut bench, "What percentage of orders are certified?").contains("**50%**"));
}

#[test]
fn people_of_another_place_keep_the_figure() {
    let mut bench = stays();
    let earlier = ["How many nights on average do guests from Spain book?".to_owned()];
    let said = answer(&bench.ask(&earlier, "And guests from Malta?").report.content);
    assert!(said.contains("**4.33**"), "{said}");
    let said = answer(&bench.ask(&earlier, "And how many guests from Malta?").report.content);
    assert!(said.contains("**8**"), "{said}");
}
