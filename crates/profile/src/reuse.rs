//! How soon keys come again, and what a cache for some of them would have had of what was asked for
//! (`runtime/include/flux/flow/reuse_distances.hpp`).

use serde::{Deserialize, Serialize};

/// How many other keys came between two uses of a key.
#[derive(Clone, PartialEq, Eq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
pub struct Reuse {
    /// Uses of keys that were not known before.
    pub first_uses: u64,
    /// The others: at which number a step begins, and how many uses are in it.
    pub distances: Vec<(u64, u64)>,
}

impl Reuse {
    /// Whether no key was used.
    pub fn is_empty(&self) -> bool {
        self.uses() == 0
    }

    /// All uses of keys, as far as is known.
    pub fn uses(&self) -> u64 {
        self.distances.iter().fold(self.first_uses, |sum, (_, uses)| sum.saturating_add(*uses))
    }

    /// The part of all uses that a cache for so many keys would have had, which drops the key that was used longest
    /// ago. Within a step distances are taken to be spread evenly.
    pub fn hit_rate(&self, keys: u64) -> f64 {
        let hits = |(begin, uses): &(u64, u64)| {
            let width = 1_u64 << begin.checked_ilog2().unwrap_or_default().saturating_sub(5);
            *uses as f64 * (keys.saturating_sub(*begin) as f64 / width as f64).min(1.0)
        };
        match self.uses() {
            0 => 0.0,
            uses => self.distances.iter().map(hits).sum::<f64>() / uses as f64,
        }
    }

    /// Sizes of caches, each twice the one before: from one key to the first that has all that any could have.
    pub fn sizes(&self) -> Vec<u64> {
        let longest = self.distances.iter().map(|(begin, _)| *begin).max().unwrap_or_default();
        let mut sizes = vec![1];
        let mut last = 1_u64;
        while last <= longest && last < 1 << 62 {
            last *= 2;
            sizes.push(last);
        }
        sizes
    }

    /// The uses of both.
    pub fn merge(&mut self, other: &Self) {
        self.first_uses = self.first_uses.saturating_add(other.first_uses);
        let mut all = std::collections::BTreeMap::new();
        for (begin, uses) in self.distances.iter().chain(&other.distances) {
            let sum: &mut u64 = all.entry(*begin).or_default();
            *sum = sum.saturating_add(*uses);
        }
        self.distances = all.into_iter().collect();
    }
}
