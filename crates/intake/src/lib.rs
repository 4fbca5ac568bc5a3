//! Closed tickets become cases.
mod address;
mod markup;
mod settings;
mod source;
mod stamp;
mod ticket;
pub use markup::*;
pub use settings::*;
pub use source::*;
pub use stamp::*;
pub use ticket::*;
