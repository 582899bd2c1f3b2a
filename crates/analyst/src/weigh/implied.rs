//! What an adjective or a question word is about by itself: `the cheapest` a price, `how far` a distance.

use crate::question::Grain;

/// The concepts an adjective may be about, the likeliest first.
pub fn implied_measure(text: &str) -> &'static [&'static str] {
    match text {
        "most expensive" | "priciest" | "cheapest" | "最贵" | "最便宜" => {
            &["price", "rent", "revenue", "cost", "asset_value", "fee"]
        }
        "biggest" | "largest" | "smallest" | "最大" | "最小" => &["area_size"],
        "oldest" | "youngest" | "how old" | "多大年纪" => &["age"],
        "longest" | "shortest" | "最久" | "how long" | "多久" | "多长时间" | "最长" | "最短" => {
            &[
                "duration",
                "distance",
                "resolution_time",
                "wait",
                "talk",
                "transit",
                "response",
                "delay",
                "tenure",
                "bed_days",
            ]
        }
        text if text.starts_with("多少钱一") || text.starts_with("几块钱一") => &["price"],
        "最耗电" | "最费电" | "用电最多" | "耗电最多" => &["energy"],
        "最耗油" | "最费油" => &["fuel"],
        "最耗水" | "最费水" => &["water"],
        "最烧钱" | "最花钱" | "最费钱" => &["cost", "revenue"],
        "最花时间" | "最耗时" | "最费时" => &["duration", "resolution_time", "hours_worked"],
        "coldest" | "hottest" | "warmest" | "最冷" | "最热" => &["temperature"],
        "最高分" | "最低分" => &["score"],
        "tallest" | "最高的人" => &["height"],
        "highest-paid" | "best-paid" | "lowest-paid" => &["salary"],
        "heaviest" | "lightest" | "最重" | "最轻" | "how heavy" | "多重" => &["weight"],
        "farthest" | "furthest" | "最远" | "how far" | "多远" => &["distance"],
        _ => &[],
    }
}

/// `月均` names a period and a mean in one word.
pub fn mean_per(text: &str) -> Option<Grain> {
    Some(match text {
        "日均" => Grain::Day,
        "周均" => Grain::Week,
        "月均" => Grain::Month,
        "季均" => Grain::Quarter,
        "年均" => Grain::Year,
        _ => return None,
    })
}
