//! A question back to the user (SPEC W9), in the shapes models really write it: an object with choices, a bare list, or a
//! flag beside `recommended_questions`.

use serde_json::Value;

use super::fields::{self, Repairs, take};
use crate::structured::{CHOICES, Clarification};

pub(super) const NAMES: [&str; 3] = ["needs_clarification", "clarification", "ask_user"];

/// The question, when it stands there, and the choices, when there are enough. `None` when nothing is asked.
pub(super) fn read(
    given: Option<Value>,
    recommended: &[String],
    repairs: &mut Repairs,
) -> Option<(String, Option<Clarification>)> {
    let (question, choices) = match given? {
        Value::Bool(true) => (String::new(), recommended.to_vec()),
        Value::String(word) if word.eq_ignore_ascii_case("true") => {
            repairs.note("read `needs_clarification` of another shape");
            (String::new(), recommended.to_vec())
        }
        Value::String(question) => {
            repairs.note("read `needs_clarification` of another shape");
            (question, recommended.to_vec())
        }
        list @ Value::Array(_) => {
            repairs.note("read `needs_clarification` of another shape");
            (String::new(), fields::list(Some(list), repairs))
        }
        Value::Object(mut map) => {
            let question = take(&mut map, &["question", "content", "text"]);
            let question = question.map(|q| fields::text(q, repairs)).unwrap_or_default();
            let choices = fields::list(take(&mut map, &["choices", "options", "answers"]), repairs);
            (question, if choices.is_empty() { recommended.to_vec() } else { choices })
        }
        _ => return None,
    };
    Some((question, settle(choices, repairs)))
}

fn settle(mut choices: Vec<String>, repairs: &mut Repairs) -> Option<Clarification> {
    let mut seen = Vec::new();
    choices.retain(|choice| {
        let new = !seen.contains(choice);
        seen.push(choice.clone());
        new
    });
    if choices.len() > *CHOICES.end() {
        repairs.note("kept the first choices of a question");
        choices.truncate(*CHOICES.end());
    }
    CHOICES.contains(&choices.len()).then_some(Clarification { choices })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{Action, ParseOutcome, parse};

    fn asked(action: serde_json::Value) -> (String, Option<Vec<String>>) {
        let text = json!({"task_analysis": "", "execution_plan": "", "current_round": 1, "action": action})
            .to_string();
        let ParseOutcome::Structured(response) = parse(&text).outcome else { panic!("{text}") };
        let Action::Complete(report) = response.action else { panic!("{text}") };
        (report.content, report.needs_clarification.map(|c| c.choices))
    }

    #[test]
    fn questions_back_are_read_in_every_shape() {
        let two = || Some(vec!["含税".to_owned(), "不含税".to_owned()]);
        let content = "按哪个口径？";
        for given in [
            json!({"type": "complete", "content": content, "needs_clarification": {"choices": ["含税", "不含税"]}}),
            json!({"type": "complete", "needs_clarification": {"question": content, "options": ["含税", "不含税", "含税"]}}),
            json!({"type": "complete", "content": content, "needs_clarification": ["含税", "不含税"]}),
            json!({"type": "complete", "content": content, "needs_clarification": true, "recommended_questions": ["含税", "不含税"]}),
            json!({"type": "complete", "content": content, "needs_clarification": "true", "recommended_questions": ["含税", "不含税"]}),
        ] {
            assert_eq!(asked(given.clone()), (content.to_owned(), two()), "{given}");
        }
    }

    #[test]
    fn too_few_choices_are_none_and_too_many_are_cut() {
        for given in
            [json!(false), json!(null), json!({"choices": ["one"]}), json!({"choices": []}), json!(7)]
        {
            let action = json!({"type": "complete", "content": "x", "needs_clarification": given});
            assert_eq!(asked(action), ("x".to_owned(), None), "{given}");
        }
        let many =
            json!({"type": "complete", "content": "x", "needs_clarification": {"choices": [1, 2, 3, 4, 5]}});
        assert_eq!(asked(many).1.unwrap(), ["1", "2", "3", "4"]);
    }
}
