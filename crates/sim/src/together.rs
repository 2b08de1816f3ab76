//! That nodes of a flow take long together: who asks for much is long in each of them. Drawn apart from one another, as
//! their histograms are, long ones and short ones would make up for each other, and flows would be more alike than they
//! are.
//!
//! A profile has the variance of what whole flows of a path ran. So with some probability each node of a flow takes its
//! time at the place among its times, from the shortest to the longest, that is the flow's, and else at a place of its
//! own. Of two nodes both do the first with the square of that, and then their covariance is the largest that two such
//! distributions have (Fréchet and Hoeffding), so the probability follows from the variance.

use crate::random::{Distribution, Histogram, Random};

/// So many places among the times of a node are looked at.
const PLACES: usize = 1000;

/// How likely a node is long where its flow is: of nodes with these times, which all together have this variance, in
/// seconds squared. From 0 to 1.
pub fn probability(nodes: &[&Histogram], variance: f64) -> f64 {
    let (mut sums, mut apart) = (vec![0.0; PLACES], 0.0);
    for times in nodes {
        let own: Vec<_> = (0..PLACES).map(|at| times.at((at as f64 + 0.5) / PLACES as f64)).collect();
        apart += variance_of(&own);
        sums.iter_mut().zip(&own).for_each(|(sum, time)| *sum += time);
    }
    let together = variance_of(&sums) - apart;
    let mean = sums.iter().sum::<f64>() / PLACES as f64;
    // Times that are all alike vary by what is rounded.
    if together <= 1e-9 * mean * mean { 0.0 } else { ((variance - apart) / together).clamp(0.0, 1.0).sqrt() }
}

fn variance_of(values: &[f64]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count
}

/// The place of one flow among the flows of its path.
#[derive(Debug)]
pub struct Together {
    probability: f64,
    place: f64,
    random: Random,
}

impl Together {
    /// Draws it, where nodes are long with this probability when their flow is.
    pub fn draw(probability: f64, mut random: Random) -> Self {
        Self { probability, place: random.unit(), random }
    }

    /// What a node takes in this flow, if by itself it took `alone`.
    pub fn time(&mut self, of: &Distribution, alone: f64) -> f64 {
        match of {
            Distribution::Measured(times) if self.random.chance(self.probability) => times.at(self.place),
            _ => alone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    // A third of all takes about 1 ms, as many 2 ms and 8 ms.
    fn steps(factor: u64) -> Histogram {
        Histogram::new(&[(factor << 20, 100), ((2 * factor) << 20, 100), ((8 * factor) << 20, 100)])
    }

    fn variance_of_flows(nodes: &[Histogram], probability: f64) -> f64 {
        let mut random = Random::new(1);
        let mut flow = || {
            let mut flow = Together::draw(probability, random.split());
            let mut time = |node: &Histogram| {
                let of = Distribution::Measured(Arc::new(node.clone()));
                flow.time(&of, of.sample(&mut random))
            };
            nodes.iter().map(&mut time).sum::<f64>()
        };
        variance_of(&(0..200_000).map(|_| flow()).collect::<Vec<_>>())
    }

    #[test]
    fn flows_vary_as_much_as_was_measured() {
        let nodes = [steps(1), steps(3), steps(2)];
        let counted: Vec<_> = nodes.iter().collect();
        let (apart, most) = (variance_of_flows(&nodes, 0.0), variance_of_flows(&nodes, 1.0));
        assert!(most > 2.0 * apart, "{apart} {most}");
        for part in [0.0, 0.3, 0.9, 1.0] {
            let wanted = apart + part * (most - apart);
            let found = variance_of_flows(&nodes, probability(&counted, wanted));
            assert!((found / wanted - 1.0).abs() < 0.02, "{found} for {wanted}");
        }
    }

    #[test]
    fn a_probability_is_one() {
        let (node, none) = (steps(1), Histogram::new(&[(7, 3)]));
        let pair = [&node, &node];
        assert_eq!((probability(&pair, 0.0), probability(&pair, 1.0)), (0.0, 1.0));
        assert_eq!((probability(&[], 1.0), probability(&[&none, &none], 1.0)), (0.0, 0.0));
    }
}
