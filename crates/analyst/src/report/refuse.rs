//! What is said when a question is not answered: why, and what can be asked instead. Never holds a figure.

use ba_protocol::file::Note;
use ba_protocol::structured::Report;

use super::format::text;
use crate::norm::Lang;
use crate::question::Refusal;
use crate::table::{Column, Role, Table};
use crate::word::Beyond;

/// Who answered, and how to get more.
pub fn signature(lang: Lang) -> &'static str {
    match lang {
        Lang::Zh => {
            "---\n*本回答由内置的离线分析器按规则生成，没有使用语言模型。设置 `BA_MODEL`（例如 `deepseek:deepseek-chat`）和 `BA_API_KEY` 后即可由模型分析。*"
        }
        Lang::En => {
            "---\n*Written by the built-in offline analyst, which works by rules and uses no language model. Set `BA_MODEL` (for example `openai:gpt-4o`) and `BA_API_KEY` to have a model do the analysis.*"
        }
    }
}

/// The report that declines a question.
pub fn report(refusal: &Refusal, tables: &[Table], lang: Lang) -> Report {
    let mut parts = vec![reason(refusal, tables, lang)];
    parts.push(ability(tables, lang));
    parts.push(signature(lang).to_owned());
    Report {
        content: parts.join("\n\n"),
        recommended_questions: suggestions(tables, lang),
        ..Report::default()
    }
}

fn reason(refusal: &Refusal, tables: &[Table], lang: Lang) -> String {
    let zh = lang == Lang::Zh;
    let t = |a: &str, b: &str| lang.pick(a, b).to_owned();
    match refusal {
        Refusal::Beyond(Beyond::Chat) => t(
            "你好，我是 BA-Agent 内置的离线分析器：按规则回答关于已上传表格的问题。",
            "Hello. I am BA-Agent's built-in offline analyst: I answer questions about uploaded tables by rules.",
        ),
        Refusal::TooLong => t(
            "这个问题太长，离线分析器读不完。请用一两句话只问一件事。",
            "This question is too long for the offline analyst to read. Ask for one thing, in a sentence or two.",
        ),
        Refusal::Beyond(Beyond::Cause) => t(
            "这是一个关于原因的问题。表格只能说明发生了什么，离线分析器不推断原因，因此不作回答。",
            "This asks for a cause. A table shows what happened; the offline analyst does not infer why, so it gives no answer.",
        ),
        Refusal::Beyond(Beyond::Advice) => t(
            "这是一个征求建议的问题，离线分析器只计算数据，不提供建议。",
            "This asks for advice. The offline analyst only computes figures and gives none.",
        ),
        Refusal::Beyond(Beyond::Outside) => t(
            "这个问题需要表格之外的信息，离线分析器只了解已上传的表格。",
            "This needs information from outside the tables; the offline analyst only knows what was uploaded.",
        ),
        Refusal::Beyond(Beyond::Write) => t(
            "这是一个写作或发送类的请求，离线分析器做不到。",
            "This asks for something to be written or sent, which the offline analyst cannot do.",
        ),
        Refusal::Beyond(Beyond::ChangeData) => t(
            "这是一个修改数据的请求。数据只读，离线分析器不会改动。",
            "This asks to change data. Data is read-only, and the offline analyst changes nothing.",
        ),
        Refusal::Beyond(Beyond::Judgement) => t(
            "这个问题需要判断、假设推演或统计建模，超出离线分析器的能力。",
            "This needs judgement, a scenario or statistical modelling, which is beyond the offline analyst.",
        ),
        Refusal::Unknown(words) => {
            let list: Vec<String> = words.iter().map(|w| format!("“{}”", text(w))).collect();
            if zh {
                format!(
                    "没有理解问题中的{}：它不是表格里的列或值。为避免给出错误的数字，不作回答。",
                    list.join("、")
                )
            } else {
                format!(
                    "I did not understand {}: it is no column or value of the tables. To avoid a wrong figure, I give none.",
                    list.join(", ")
                )
            }
        }
        Refusal::NoColumn(said) => {
            if zh {
                format!("表格中没有与“{}”对应的列，因此无法计算。", text(said))
            } else {
                format!("No column of the tables stands for “{}”, so it cannot be computed.", text(said))
            }
        }
        Refusal::NoDate => no_date(tables, lang),
        Refusal::NoTable => t(
            "还没有可分析的表格。请先上传 CSV、Excel、JSON 或 Parquet 文件。",
            "There is no table to analyse yet. Upload a CSV, Excel, JSON or Parquet file first.",
        ),
        Refusal::OutsideDates { asked, first, last } => {
            if zh {
                format!("数据只覆盖 {first} 至 {last}，不包含 {}，因此没有数字可给。", text(asked))
            } else {
                format!(
                    "The data covers {first} to {last} and not {}, so there is no figure to give.",
                    text(asked)
                )
            }
        }
        Refusal::TooFar { months } => {
            if zh {
                format!("按现有历史最多只能预测约 {months} 个月（按月），超出的部分不可靠，不作预测。")
            } else {
                format!(
                    "The history supports a monthly forecast of at most about {months} months; anything further would not be sound, so none is made."
                )
            }
        }
        Refusal::TooMuchToCopy => t(
            "数据库的 SQL 做不到这项计算，而表太大（或涉及多张表），无法先复制到会话中再算，因此不给出数字。",
            "The database's SQL cannot compute this, and the table is too large (or there are several) to be copied into the conversation first, so no figure is given.",
        ),
        Refusal::NeedsTwoMeasures => t(
            "相关性需要两个数值列，问题中没有找到两个。",
            "A correlation needs two numeric columns, and the question does not name two.",
        ),
        Refusal::NoJoin { first, second } => {
            let name = |t: &usize| tables.get(*t).map_or(String::new(), |t| text(&t.filename));
            if zh {
                format!("{} 与 {} 之间没有可以安全关联的共同键。", name(first), name(second))
            } else {
                format!(
                    "{} and {} have no common key that would be safe to join on.",
                    name(first),
                    name(second)
                )
            }
        }
        Refusal::NotInTables => t(
            "表格里似乎没有能回答这个问题的数字。为避免给出错误的数字，不作回答。",
            "The tables do not seem to hold a figure that answers this. To avoid a wrong figure, I give none.",
        ),
        Refusal::NothingAsked => {
            t("没有在问题中找到可以计算的内容。", "I found nothing in the question that can be computed.")
        }
    }
}

/// Which columns would tell the time, and what they hold instead.
fn no_date(tables: &[Table], lang: Lang) -> String {
    const TELLING: [&str; 12] =
        ["date", "day", "month", "quarter", "year", "time", "日期", "时间", "月", "季度", "年", "日"];
    let told = |t: &Table, c: &Column| {
        t.cleaned.iter().any(|n| n.code == "dates_not_read" && n.column.as_deref() == Some(&c.name))
            || c.words.split(' ').any(|w| TELLING.contains(&w))
            || ["日期", "时间", "月份", "季度", "年份"].iter().any(|w| c.words.contains(w))
    };
    // The values that could not be read say more than those that are frequent.
    let unread = |t: &Table, c: &Column| -> Option<Vec<String>> {
        let of = |n: &&Note| n.code == "dates_not_read" && n.column.as_deref() == Some(&c.name);
        let examples = t.cleaned.iter().find(of)?.values.get("examples")?.as_array()?;
        Some(examples.iter().filter_map(|v| v.as_str()).map(str::to_owned).collect())
    };
    let held = |(t, c): (&Table, &Column)| {
        let kind = if c.is_numeric() { lang.pick("数字", "a number") } else { lang.pick("文本", "text") };
        let values = unread(t, c).filter(|v| !v.is_empty()).unwrap_or_else(|| c.values.clone());
        let some: Vec<String> = values.iter().take(3).map(|v| text(v)).collect();
        let name = text(&c.name);
        match (some.is_empty(), lang) {
            (true, Lang::Zh) => format!("“{name}”是{kind}"),
            (true, Lang::En) => format!("“{name}” is {kind}"),
            (false, Lang::Zh) => format!("“{name}”是{kind}（如 {}）", some.join("、")),
            (false, Lang::En) => format!("“{name}” is {kind} (such as {})", some.join(", ")),
        }
    };
    let columns = tables.iter().flat_map(|t| t.columns.iter().map(move |c| (t, c)));
    let near = columns.filter(|(t, c)| c.role != Role::Time && told(t, c));
    let near: Vec<String> = near.take(4).map(held).collect();
    match (near.is_empty(), lang) {
        (true, Lang::Zh) => "问题涉及时间，但表格中没有日期列。".to_owned(),
        (true, Lang::En) => "The question is about time, but the table has no date column.".to_owned(),
        (false, Lang::Zh) => {
            format!("问题涉及时间，但没有一列的日期能够读出：{}。因此无法按时间计算。", near.join("；"))
        }
        (false, Lang::En) => format!(
            "The question is about time, but no column holds dates that could be read: {}. So nothing is computed by time.",
            near.join("; ")
        ),
    }
}

fn ability(tables: &[Table], lang: Lang) -> String {
    if tables.is_empty() {
        return lang.pick("我可以做：求和、平均、计数、排名、占比、趋势、同比环比、分布、相关、异常值、帕累托、留存、漏斗、简单预测、缺失与重复检查。", "I can do: sums, averages, counts, rankings, shares, trends, growth, distributions, correlations, outliers, Pareto, retention, funnels, simple forecasts, missing and duplicate checks.").to_owned();
    }
    let listed = tables.iter().take(3).map(|t| {
        let names: Vec<String> = t.columns.iter().take(12).map(|c| text(&c.name)).collect();
        format!("- {}: {}", text(&t.filename), names.join(lang.pick("、", ", ")))
    });
    let list: Vec<String> = listed.collect();
    format!("{}\n\n{}", lang.pick("可以就这些列提问（求和、平均、计数、排名、占比、趋势、同比环比、分布、相关、异常值、留存、简单预测等）：", "You can ask about these columns (sums, averages, counts, rankings, shares, trends, growth, distributions, correlations, outliers, retention, simple forecasts and so on):"), list.join("\n"))
}

/// Questions that will work on the newest table.
fn suggestions(tables: &[Table], lang: Lang) -> Vec<String> {
    let Some(table) = tables.last() else { return Vec::new() };
    let measure = table.columns.iter().find(|c| c.role == Role::Measure);
    let dim = table.columns.iter().find(|c| c.role == Role::Dimension && (2..=200).contains(&c.distinct));
    let mut out = vec![lang.pick("数据概况", "overview of the data").to_owned()];
    if let (Some(m), Some(d)) = (measure, dim) {
        out.push(match lang {
            Lang::Zh => format!("各{}的{}是多少？", d.name, m.name),
            Lang::En => format!("{} by {}", m.name, d.name),
        });
    }
    if let (Some(m), Some(_)) = (measure, table.main_date()) {
        out.push(match lang {
            Lang::Zh => format!("{}的月度趋势如何？", m.name),
            Lang::En => format!("monthly trend of {}", m.name),
        });
    }
    out
}
