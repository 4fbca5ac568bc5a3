//! One file a command.

pub(crate) mod atlas;
pub(crate) mod atlas_export;
pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod diff;
pub(crate) mod explain;
pub(crate) mod extract;
pub(crate) mod files;
pub(crate) mod gate;
pub(crate) mod import;
pub(crate) mod interrupt;
pub(crate) mod judge;
pub(crate) mod manual;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod sarif;
pub(crate) mod skill;
pub(crate) mod stored;
pub(crate) mod suggest;
pub(crate) mod transcript;
