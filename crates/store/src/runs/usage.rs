//! What runs came to: counted from what is stored, so that it survives a restart and agrees with the lists.

use std::collections::BTreeMap;

use ba_protocol::UserId;
use ba_protocol::api::UsageInfo;

use crate::db::params;
use crate::error::Result;
use crate::store::Store;
use crate::types::{ModelUsage, RunStatus};

impl Store {
    /// One person's runs, by the model they were asked of.
    pub async fn usage_by_model(&self, owner: &UserId) -> Result<Vec<ModelUsage>> {
        let rows = self
            .db()
            .read(
                "SELECT r.model, r.usage_info, r.status, r.created_at, r.updated_at
                 FROM runs r JOIN conversations c ON c.id = r.conversation_id
                 WHERE c.owner = $1 AND c.deleted_at IS NULL",
                params![owner],
            )
            .await?;
        let mut found: BTreeMap<String, ModelUsage> = BTreeMap::new();
        for row in &rows {
            let model = row.string(0)?;
            let entry =
                found.entry(model.clone()).or_insert_with(|| ModelUsage { model, ..Default::default() });
            let status: RunStatus = row.text(2)?.parse()?;
            if !status.is_open() {
                let took = row.time(4)?.duration_since(row.time(3)?);
                entry.durations.push(took.as_secs_f64() * 1e3);
            }
            entry.runs += 1;
            add(&mut entry.usage, &row.json(1)?);
        }
        Ok(found.into_values().collect())
    }

    /// Everyone's runs and what they took.
    pub async fn usage_by_owner(&self) -> Result<Vec<(UserId, u64, UsageInfo)>> {
        let sql = "SELECT c.owner, r.usage_info FROM runs r JOIN conversations c ON c.id = r.conversation_id";
        let mut found: BTreeMap<String, (UserId, u64, UsageInfo)> = BTreeMap::new();
        for row in self.db().read(sql, vec![]).await? {
            let owner: UserId = row.id(0)?;
            let (_, runs, usage) =
                found.entry(owner.to_string()).or_insert_with(|| (owner, 0, UsageInfo::default()));
            *runs += 1;
            add(usage, &row.json(1)?);
        }
        Ok(found.into_values().collect())
    }
}

fn add(sum: &mut UsageInfo, more: &UsageInfo) {
    sum.input_tokens += more.input_tokens;
    sum.output_tokens += more.output_tokens;
    sum.cached_tokens += more.cached_tokens;
    if let Some(cost) = more.cost {
        sum.cost = Some(sum.cost.unwrap_or(0.0) + cost);
    }
}
