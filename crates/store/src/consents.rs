//! What a person has allowed in one conversation: addresses and hosts that `web_reader` may ask although nobody gave them
//! (SPEC H7). Goes with the conversation; never grows beyond a page of them.

use ba_protocol::{ConversationId, UserId};

use crate::conversations::now;
use crate::db::params;
use crate::error::{Result, StoreError};
use crate::store::Store;

/// Consents of one conversation.
const MOST: usize = 200;
const LONGEST: usize = 2_000;

impl Store {
    /// Adds an address or a host to those that its owner allows. Gives all of them back.
    pub async fn add_consent(
        &self,
        owner: &UserId,
        conversation: &ConversationId,
        what: &str,
    ) -> Result<Vec<String>> {
        self.conversation(owner, conversation).await?;
        if what.len() > LONGEST {
            return Err(StoreError::TooLarge { what: "the address".to_owned(), limit: LONGEST as u64 });
        }
        let (id, what) = (conversation.clone(), what.to_owned());
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    s.execute(
                        "INSERT INTO consents (conversation_id, what, created_at) VALUES ($1, $2, $3)
                         ON CONFLICT (conversation_id, what) DO NOTHING",
                        params![&id, what, now()],
                    )
                    .await?;
                    let all = s
                        .query(
                            "SELECT what FROM consents WHERE conversation_id = $1 ORDER BY created_at, what",
                            params![&id],
                        )
                        .await?;
                    if all.len() > MOST {
                        let what = "the list of consents".to_owned();
                        return Err(StoreError::TooLarge { what, limit: MOST as u64 });
                    }
                    all.iter().map(|row| row.string(0)).collect()
                })
            })
            .await
    }

    /// Addresses and hosts that the conversation's owner has allowed.
    pub async fn consents(&self, conversation: &ConversationId) -> Result<Vec<String>> {
        let rows = self
            .db()
            .read(
                "SELECT what FROM consents WHERE conversation_id = $1 ORDER BY created_at, what",
                params![conversation],
            )
            .await?;
        rows.iter().map(|row| row.string(0)).collect()
    }
}
