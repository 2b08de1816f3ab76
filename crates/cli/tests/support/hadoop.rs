//! What mappers and a reducer of Hadoop's example WordCount have, for tests of the aggregator.

/// What the mappers give, written by Hadoop.
pub const MAPPERS: [&[u8]; 4] = [
    include_bytes!("../flick_services/mapper_0.ifile"),
    include_bytes!("../flick_services/mapper_1.ifile"),
    include_bytes!("../flick_services/mapper_2.ifile"),
    include_bytes!("../flick_services/mapper_3.ifile"),
];
/// What the aggregator makes of these.
pub const REDUCER: &[u8] = include_bytes!("../flick_services/reducer.ifile");
