//! Where flows in progress are, as an admin interface's `/flows` tells it of each of them.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Flows of one source at one node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The source's name.
    pub source: String,
    /// The node's; none where they have not come to one.
    pub node: Option<String>,
    /// How many there are.
    pub flows: u64,
    /// For how many milliseconds requests of `/flows` have seen the one there that they have seen there longest.
    pub longest_ms: u64,
}

/// `/flows`
#[derive(Deserialize)]
struct InProgress {
    flows: Vec<Seen>,
}

/// A flow.
#[derive(Deserialize)]
struct Seen {
    source: String,
    node: Option<String>,
    seen_ms: u64,
}

/// The places where there are flows; where most are is first.
///
/// # Errors
/// Where it is not what `/flows` gives.
pub fn places(json: &str) -> Result<Vec<Place>, String> {
    let read: InProgress =
        serde_json::from_str(json).map_err(|error| format!("it is no list of flows in progress: {error}"))?;
    let mut places: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for Seen { source, node, seen_ms } in read.flows {
        let (flows, longest) = places.entry((source, node)).or_default();
        *flows += 1;
        *longest = seen_ms.max(*longest);
    }
    let place = |((source, node), (flows, longest_ms))| Place { source, node, flows, longest_ms };
    let mut places: Vec<_> = places.into_iter().map(place).collect();
    places.sort_by_key(|place| std::cmp::Reverse(place.flows));
    Ok(places)
}
