//! Names to addresses, each of them checked. The client connects to what was checked, so there is nothing to rebind.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolving};

use super::FetchError;
use crate::guard::Guard;

/// Finds the addresses of a name. The system's resolver is used unless another is given.
pub trait Resolve: Send + Sync + 'static {
    fn resolve(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// `/etc/hosts` and DNS, as every other program of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let host = host.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// What the HTTP client asks before it connects. One refused address refuses the name.
pub(super) struct Checked {
    pub(super) resolver: Arc<dyn Resolve>,
    /// `None` for endpoints of the operator.
    pub(super) guard: Option<Guard>,
}

impl reqwest::dns::Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let found = self.resolver.resolve(&host);
        let guard = self.guard.clone();
        Box::pin(async move {
            let unresolved = |detail: String| FetchError::Unresolved { host: host.clone(), detail };
            let found = found.await.map_err(|e| unresolved(e.to_string()))?;
            if found.is_empty() {
                return Err(unresolved("it has no address".to_owned()).into());
            }
            if let Some(guard) = &guard {
                for ip in &found {
                    guard.address(&host, *ip)?;
                }
            }
            // Port 0 stands for the URL's own.
            Ok(Box::new(found.into_iter().map(|ip| SocketAddr::new(ip, 0))) as Addrs)
        })
    }
}
