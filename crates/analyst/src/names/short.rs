//! Short forms in headers and the words they are short for. Knows no table.

use super::same_word;

/// Short forms that headers use, and what they are short for.
const SHORT: &[(&str, &str)] = &[
    ("prio", "priority"),
    ("est", "estimated"),
    ("act", "actual"),
    ("hrs", "hours"),
    ("hr", "hours"),
    ("mins", "minutes"),
    ("prob", "probability"),
    ("pt", "patient"),
    ("appt", "appointment"),
    ("svc", "service"),
    ("pax", "passengers"),
    ("vat", "tax"),
    ("bldg", "building"),
    ("chg", "charge"),
    ("cons", "consumption"),
    ("consump", "consumption"),
    ("deliv", "delivery"),
    ("eqp", "equipment"),
    ("equip", "equipment"),
    ("hosp", "hospital"),
    ("maint", "maintenance"),
    ("max", "maximum"),
    ("mat", "material"),
    ("mtd", "method"),
    ("op", "operator"),
    ("purch", "purchase"),
    ("req", "request"),
    ("res", "resolution"),
    ("sev", "severity"),
    ("stud", "student"),
    ("tel", "phone"),
    ("tech", "technician"),
    ("veh", "vehicle"),
    ("vend", "vendor"),
    ("acct", "account"),
    ("addr", "address"),
    ("amt", "amount"),
    ("amnt", "amount"),
    ("arr", "arrival"),
    ("avg", "average"),
    ("bal", "balance"),
    ("cat", "category"),
    ("categ", "category"),
    ("chnl", "channel"),
    ("cnt", "count"),
    ("cntry", "country"),
    ("comm", "commission"),
    ("comp", "company"),
    ("conv", "conversions"),
    ("ctry", "country"),
    ("cust", "customer"),
    ("del", "delivery"),
    ("dep", "departure"),
    ("dept", "department"),
    ("dest", "destination"),
    ("disc", "discount"),
    ("dist", "distance"),
    ("dob", "birth date"),
    ("dt", "date"),
    ("dur", "duration"),
    ("edu", "education"),
    ("emp", "employee"),
    ("exp", "expense"),
    ("freq", "frequency"),
    ("fname", "first name"),
    ("imps", "impressions"),
    ("impr", "impressions"),
    ("ind", "industry"),
    ("inv", "invoice"),
    ("inst", "installation"),
    ("lang", "language"),
    ("lname", "last name"),
    ("loc", "location"),
    ("mfr", "manufacturer"),
    ("mgr", "manager"),
    ("mkt", "market"),
    ("mo", "month"),
    ("mth", "month"),
    ("nbr", "number"),
    ("num", "number"),
    ("opp", "opportunity"),
    ("ord", "order"),
    ("org", "organisation"),
    ("orig", "origin"),
    ("pct", "percent"),
    ("perc", "percent"),
    ("perf", "performance"),
    ("pmt", "payment"),
    ("pos", "position"),
    ("prc", "price"),
    ("prod", "product"),
    ("prov", "province"),
    ("pymt", "payment"),
    ("px", "price"),
    ("qtr", "quarter"),
    ("qty", "quantity"),
    ("rcpt", "receipt"),
    ("recv", "received"),
    ("ref", "reference"),
    ("reg", "region"),
    ("rep", "representative"),
    ("resp", "response"),
    ("rev", "revenue"),
    ("sal", "salary"),
    ("sched", "scheduled"),
    ("spec", "specification"),
    ("sub", "subscription"),
    ("subj", "subject"),
    ("supp", "supplier"),
    ("temp", "temperature"),
    ("terr", "territory"),
    ("tkt", "ticket"),
    ("tot", "total"),
    ("trans", "transaction"),
    ("trx", "transaction"),
    ("ts", "timestamp"),
    ("txn", "transaction"),
    ("util", "utilization"),
    ("vol", "volume"),
    ("wgt", "weight"),
    ("whse", "warehouse"),
    ("wt", "weight"),
    ("yr", "year"),
    ("yrs", "years"),
    ("tix", "tickets"),
    ("eng", "engineer"),
    ("len", "length"),
    ("src", "source"),
    ("recd", "received"),
    ("rcvd", "received"),
    ("lvl", "level"),
    ("grp", "group"),
    ("desc", "description"),
    ("curr", "current"),
    ("prev", "previous"),
    ("sz", "size"),
    ("wks", "weeks"),
    ("mos", "months"),
    ("mths", "months"),
    ("wk", "week"),
    ("attd", "attended"),
    ("cxl", "cancelled"),
    ("canc", "cancelled"),
    ("pd", "paid"),
    ("bkg", "booking"),
    ("bkd", "booked"),
    ("rsv", "reservation"),
    ("tmp", "temperature"),
    ("spd", "speed"),
    ("ht", "height"),
    ("lgth", "length"),
    ("drv", "driver"),
    ("opr", "operator"),
    ("prem", "premium"),
    ("ded", "deductible"),
    ("pol", "policy"),
    ("clm", "claim"),
    ("agt", "agent"),
    ("stk", "stock"),
    ("whs", "warehouse"),
    ("dlvry", "delivery"),
    ("dlv", "delivery"),
    ("pkg", "package"),
    ("prog", "program"),
    ("proj", "project"),
    ("hrly", "hourly"),
    ("mthly", "monthly"),
    ("yrly", "yearly"),
    ("ann", "annual"),
    ("rtg", "rating"),
    ("sts", "status"),
    ("typ", "type"),
    ("nm", "name"),
    ("cls", "class"),
    ("mktg", "marketing"),
    ("sess", "sessions"),
    ("usr", "user"),
    ("mob", "mobile"),
    ("instr", "instructor"),
    ("prof", "professor"),
    ("sem", "semester"),
    ("enr", "enrolment"),
    ("enrol", "enrolment"),
    ("diag", "diagnosis"),
    ("ins", "insurance"),
    ("bev", "beverage"),
    ("ingr", "ingredient"),
    ("mfg", "manufacturing"),
    ("insp", "inspection"),
    ("contr", "contractor"),
    ("permt", "permit"),
    ("avail", "available"),
    ("rms", "rooms"),
    ("nts", "nights"),
    ("gst", "guest"),
    ("chk", "check"),
    ("rtn", "return"),
    ("rtns", "returns"),
    ("ret", "return"),
    ("exch", "exchange"),
    ("promo", "promotion"),
    ("coup", "coupon"),
    ("subs", "subscription"),
    ("cncl", "cancelled"),
    ("refd", "referred"),
    ("hh", "household"),
    ("govt", "government"),
    ("intl", "international"),
    ("reqd", "required"),
];

/// A name with its short forms written out: `ord dt` is `order date`.
pub fn written_out(words: &str) -> String {
    let alone = !words.contains(' ');
    let out: Vec<&str> = words
        .split(' ')
        .map(|word| match word {
            "pay" if !alone => "payment",
            "ship" if !alone => "shipping",
            _ => SHORT.iter().find(|(short, _)| *short == word).map_or(word, |(_, long)| long),
        })
        .collect();
    out.join(" ")
}

/// A header's token that is short for a word: `cust` for customer, `mgr` for manager; three letters or more.
pub fn is_short_for(token: &str, word: &str) -> bool {
    let letters = |t: &str| t.bytes().all(|b| b.is_ascii_lowercase());
    if token.len() < 3 || word.len() < token.len() + 2 || !letters(token) || !letters(word) {
        return false;
    }
    // Without its vowels: all letters of the token in order, none of them a vowel but the first.
    let skeleton = || {
        let mut rest = word.bytes();
        let bare = token.bytes().skip(1).all(|b| !b"aeiou".contains(&b));
        bare && word.as_bytes()[0] == token.as_bytes()[0] && token.bytes().all(|b| rest.any(|c| c == b))
    };
    word.starts_with(token) || skeleton()
}

/// A header's token and a word of a question that mean the same: equal, another form of it, or what it is short for.
pub fn says(token: &str, word: &str) -> bool {
    let long = SHORT.iter().find(|(short, _)| *short == token).map(|(_, long)| *long);
    let unit = crate::units::ending(token);
    let measured = token.len() <= 3 && unit.is_some() && unit == crate::units::ending(word);
    measured
        || token == "take" && word == "takings"
        || token == word
        || token.len() >= 3 && same_word(token, word)
        || long.is_some_and(|long| long == word || same_word(long, word))
        || is_short_for(token, word) && token.len() * 4 <= word.len() * 3
        || is_short_for(token, word.strip_suffix('s').unwrap_or(word)) && token.len() <= 5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_forms_are_written_out() {
        assert_eq!(written_out("ord dt"), "order date");
        assert_eq!(written_out("net amt"), "net amount");
        assert_eq!(written_out("pay method"), "payment method");
        assert_eq!(written_out("pay"), "pay");
        assert_eq!(written_out("销售额"), "销售额");
    }

    #[test]
    fn a_short_header_says_the_word_it_is_short_for() {
        for (token, word) in [
            ("vol", "volunteer"),
            ("cust", "customers"),
            ("mgr", "manager"),
            ("hrs", "hours"),
            ("amt", "amount"),
            ("qty", "quantity"),
            ("class", "classes"),
            ("resolve", "resolution"),
        ] {
            assert!(says(token, word), "{token} {word}");
        }
        for (token, word) in
            [("cost", "consultant"), ("no", "nominal"), ("rate", "rates paid"), ("paid", "pad")]
        {
            assert!(!says(token, word), "{token} {word}");
        }
    }
}
