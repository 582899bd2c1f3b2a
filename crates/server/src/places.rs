//! Places for connections: so many in all, and so many of one address, so that one visitor cannot take them all.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::config::Network;

/// Cheap to clone.
#[derive(Clone)]
pub struct Places {
    of_address: Arc<Mutex<HashMap<IpAddr, usize>>>,
    limit: usize,
}

/// Held while a connection lasts.
pub struct Place {
    places: Places,
    address: Option<IpAddr>,
}

impl Places {
    pub fn new(limit: usize) -> Self {
        Self { of_address: Arc::default(), limit }
    }

    /// Nothing when the address has all it may have. A trusted proxy speaks for many and is not counted.
    pub fn take(&self, address: IpAddr, trusted: &[Network]) -> Option<Place> {
        if trusted.iter().any(|network| network.contains(address)) {
            return Some(Place { places: self.clone(), address: None });
        }
        let address = crate::auth::rate::network_of(address);
        let mut held = self.of_address.lock();
        let count = held.entry(address).or_insert(0);
        if *count >= self.limit {
            return None;
        }
        *count += 1;
        Some(Place { places: self.clone(), address: Some(address) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(address) = self.address else { return };
        let mut held = self.places.of_address.lock();
        if let Some(count) = held.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                held.remove(&address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_so_many_places_and_gets_them_back() {
        let places = Places::new(2);
        let (one, other): (IpAddr, IpAddr) = ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap());
        let first = places.take(one, &[]).unwrap();
        let _second = places.take(one, &[]).unwrap();
        assert!(places.take(one, &[]).is_none());
        assert!(places.take(other, &[]).is_some());
        let proxy = ["10.0.0.0/24".parse().unwrap()];
        assert!(places.take(one, &proxy).is_some());
        drop(first);
        assert!(places.take(one, &[]).is_some());
        drop(_second);
        assert!(places.of_address.lock().is_empty(), "nobody is remembered who has gone");
    }
}
