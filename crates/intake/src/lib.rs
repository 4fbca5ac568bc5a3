//! Closed tickets become cases.
mod address;
mod export;
mod markup;
mod phrase;
mod settings;
mod source;
mod stamp;
mod ticket;
pub use export::*;
pub use markup::*;
pub use settings::*;
pub use source::*;
pub use stamp::*;
pub use ticket::*;
