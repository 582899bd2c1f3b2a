//! The one gate turn beyond figures: a witness that disagrees (SPEC V6), and answers that lack what was asked for.

use std::time::Duration;

use async_trait::async_trait;
use ba_agent::{Testimony, Witness, WitnessCase};
use ba_model::ScriptedModel;
use ba_protocol::api::AgentResponse;
use serde_json::json;

use crate::bench::{Bench, call, complete};
use crate::turns::seen;

/// Says what it was told to, after a while.
struct Says(f64, Duration);

#[async_trait]
impl Witness for Says {
    async fn testify(&self, case: WitnessCase) -> Option<Testimony> {
        assert_eq!(case.earlier, Vec::<String>::new());
        tokio::time::sleep(self.1).await;
        let query = "SELECT sum(销售额) AS 销售额 FROM upload_001".to_owned();
        Some(Testimony { value: self.0, query, name: "销售额合计".into(), group: None })
    }
}

async fn asked(bench: &Bench, question: &str) -> AgentResponse {
    let admitted = bench.ask(question, None).await;
    bench.agent.wait(&bench.owner, &admitted.run_id).await.unwrap()
}

const PARTIAL: &str = "销售额合计 302,150 元（华东、华南、华北之和）。";

#[tokio::test]
async fn a_witness_that_disagrees_is_heard_once_and_stays_visible() {
    let script = [call("sales", json!({})), complete(PARTIAL), complete(PARTIAL)];
    let bench = Bench::with_witness(ScriptedModel::new(script), Says(344_020.0, Duration::ZERO)).await;
    let answer = asked(&bench, "销售额合计是多少？").await;
    assert_eq!(bench.model.requests().len(), 3, "one gate turn");
    let last = bench.model.request(2).unwrap().messages.last().unwrap().text();
    insta::assert_snapshot!("witness_request", last);
    let witness = serde_json::to_value(&answer.metadata.witness).unwrap();
    assert_eq!((&witness["agrees"], &witness["value"]), (&json!(false), &json!(344_020.0)));
}

#[tokio::test]
async fn a_witness_that_agrees_costs_no_turn() {
    let script = [call("sales", json!({})), complete("销售额合计 344,020 元。")];
    let bench = Bench::with_witness(ScriptedModel::new(script), Says(344_020.0, Duration::ZERO)).await;
    let answer = asked(&bench, "销售额合计是多少？").await;
    assert_eq!((bench.model.requests().len(), answer.metadata.witness.map(|w| w.agrees)), (2, Some(true)));
}

#[tokio::test]
async fn a_witness_that_never_comes_is_left_behind() {
    let script = [call("sales", json!({})), complete("销售额合计 344,020 元。")];
    let slow = Says(1.0, Duration::from_secs(3_600));
    let bench = Bench::with_witness(ScriptedModel::new(script), slow).await;
    let answer = asked(&bench, "销售额合计是多少？").await;
    assert_eq!(answer.metadata.witness, None);
}

#[tokio::test]
async fn what_the_answer_lacks_goes_into_the_same_turn() {
    let draft = "华东销售额 156,000 元。[明细](detail.xlsx)\n<chart data=\"call_7\" kind=\"bar\" x=\"地区\" y=\"销售额\"/>";
    let mended = "| 地区 | 销售额 |\n|---|---|\n| 华东 | 150,600 |\n\n<chart data=\"call_1\" kind=\"bar\" x=\"地区\" y=\"销售额\"/>";
    let script = [call("sales", json!({})), complete(draft), complete(mended)];
    let bench = Bench::new(ScriptedModel::new(script)).await;
    let answer = asked(&bench, "用表格列出各地区销售额，并画柱状图").await;
    assert_eq!(bench.model.requests().len(), 3);
    let last = seen(&bench.model.request(2).unwrap().messages[2..]);
    let (_, request) = last.rsplit_once("[user]\n").unwrap();
    insta::assert_snapshot!("completion_request", request);
    assert!(answer.response.contains("150,600") && !answer.response.contains("detail.xlsx"));
}

#[tokio::test]
async fn a_second_answer_with_more_faults_is_not_delivered() {
    let draft = "华东销售额 150,600 元。";
    let worse = "华东销售额 150,600 元。[a](a.xlsx) [b](b.xlsx)";
    let script = [call("sales", json!({})), complete(draft), complete(worse)];
    let bench = Bench::new(ScriptedModel::new(script)).await;
    assert_eq!(asked(&bench, "用表格列出各地区销售额").await.response, draft);
}
