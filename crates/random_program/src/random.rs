//! Randomness that a seed replays: a stream for the generator, and a hash by which nodes decide what they do.
//!
//! Both are SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014), whose
//! finaliser is Stafford's variant 13 of MurmurHash3's. The hash is written a second time in `cpp/nodes.hpp`; the two
//! must agree bit for bit, since the server and the reference decide by it independently.

/// The odd integer nearest to 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser: a bijection in which every bit of `bits` changes about half of the result's.
fn mix(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// A hash of two words, in which their order matters.
pub fn combine(first: u64, second: u64) -> u64 {
    mix(first.wrapping_add(GOLDEN) ^ mix(second.wrapping_add(GOLDEN.wrapping_mul(2))))
}

/// A stream of random numbers.
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next word.
    pub fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A number below `bound`, and 0 where that is 0. By multiplication rather than remainder; the bias is below
    /// `bound` in 2^64.
    pub fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.word()) * bound as u128;
        usize::try_from(product >> 64).unwrap_or_default()
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in `permille` of a thousand cases.
    pub fn chance(&mut self, permille: usize) -> bool {
        self.below(1000) < permille
    }

    /// One of `choices`; none where there are none.
    pub fn choose<T: Clone>(&mut self, choices: &[T]) -> Option<T> {
        choices.get(self.below(choices.len())).cloned()
    }

    /// Brings `elements` into a random order (Fisher and Yates, in Durstenfeld's form).
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        for last in (1..elements.len()).rev() {
            elements.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_splitmix64() {
        // The first words of the seed 1234567, as published with the reference implementation's ports.
        let mut random = Random::new(1_234_567);
        let words: Vec<_> = (0..3).map(|_| random.word()).collect();
        assert_eq!(words, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn numbers_stay_within_their_bounds_and_reach_them() {
        let mut random = Random::new(1);
        let seen: std::collections::BTreeSet<_> = (0..1000).map(|_| random.between(3, 6)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [3, 4, 5, 6]);
        assert_eq!(random.below(0), 0);
        assert!(!random.chance(0) && random.chance(1000));
    }

    #[test]
    fn the_order_of_what_is_combined_matters() {
        assert_ne!(combine(1, 2), combine(2, 1));
        assert_ne!(combine(0, 0), 0);
    }
}
