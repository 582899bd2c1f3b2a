//! What a person has allowed in one conversation: addresses and hosts that `web_reader` may ask although nobody gave them
//! (SPEC H7). Goes with the conversation; never grows beyond a page of them.

use std::time::Duration;

use ba_protocol::{ConversationId, UserId};

use crate::error::{Result, StoreError};
use crate::store::Store;

const NAMESPACE: &str = "web_consent";
/// A conversation that nobody has touched for so long asks again.
const KEPT: Duration = Duration::from_secs(90 * 24 * 3600);
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
        let mut all = self.consents(conversation).await?;
        if !all.iter().any(|known| known == what) {
            all.push(what.to_owned());
        }
        if all.len() > MOST {
            return Err(StoreError::TooLarge { what: "the list of consents".to_owned(), limit: MOST as u64 });
        }
        self.cache_put(NAMESPACE, conversation.as_str(), &all.join("\n"), KEPT).await?;
        Ok(all)
    }

    /// Addresses and hosts that the conversation's owner has allowed.
    pub async fn consents(&self, conversation: &ConversationId) -> Result<Vec<String>> {
        let kept = self.cache_get(NAMESPACE, conversation.as_str()).await?;
        Ok(kept.unwrap_or_default().lines().map(str::to_owned).collect())
    }
}
