//! What the programs share: the stream of events, and the loop that measures.

pub mod measure;
pub mod stream;
