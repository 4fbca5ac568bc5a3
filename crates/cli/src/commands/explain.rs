//! `hindcast explain CODE`.

use hindcast_case::{Code, nearest};

use crate::failure::{Failure, Outcome};
use crate::output;

pub(crate) fn run(code: &str) -> Result<Outcome, Failure> {
    let wanted = code.trim().trim_start_matches("case/");
    let found = Code::ALL.iter().find(|known| known.as_str().trim_start_matches("case/") == wanted);
    let Some(found) = found else {
        let failure = Failure::new(format!("{code:?} is not a code"));
        let near = nearest(code, Code::ALL.iter().map(|known| known.as_str()));
        return Err(match near {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None => failure.help(Code::ALL.iter().map(|known| known.as_str()).collect::<Vec<_>>().join("\n        ")),
        });
    };
    output::print(&format!("{found}\n\n{}", found.explanation()))?;
    Ok(Outcome::Clean)
}
