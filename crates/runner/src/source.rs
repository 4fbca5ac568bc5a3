//! Where answers come from.

use std::path::PathBuf;

use hindcast_http::Retry;
use hindcast_transcript::Usage;

use crate::api::Api;
use crate::descriptor::{Descriptor, Price};
use crate::recorded::Recorded;
use crate::settings::{RunnerError, Settings};

/// Where answers come from.
#[derive(Debug)]
pub(crate) enum Source {
    Recorded(Recorded),
    Program(Descriptor),
    Service(Descriptor, Box<Api>),
}

impl Source {
    /// An agent. `environment` gives keys and addresses of services; the descriptor's model is taken where `settings` names none.
    pub(crate) fn agent(
        descriptor: Descriptor,
        settings: &mut Settings,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, RunnerError> {
        if settings.model.is_empty() {
            settings.model.clone_from(&descriptor.model);
        }
        Ok(match &descriptor.service {
            None => {
                let program = descriptor.program.as_ref().and_then(|program| program.command.first());
                // What is filled in only for a replay is found out then.
                let program = program.filter(|program| !program.contains('{'));
                if let Some(program) = program.filter(|program| located(program, environment).is_none()) {
                    return Err(RunnerError::NotFound(program.clone()));
                }
                Self::Program(descriptor)
            }
            Some(_) if settings.model.is_empty() => return Err(RunnerError::NoModel(descriptor.name)),
            Some(service) => {
                let retry =
                    Retry { attempts: settings.retries + 1, first_wait: settings.first_wait, timeout: settings.time };
                let api = Api::new(service, environment, retry).map_err(RunnerError::Service)?;
                Self::Service(descriptor, Box::new(api))
            }
        })
    }

    /// What tokens cost in US dollars, where the descriptor tells prices.
    pub(crate) fn cost(&self, usage: &Usage) -> Option<f64> {
        let Price { input, cached, output } = match self {
            Self::Recorded(_) => None,
            Self::Program(descriptor) | Self::Service(descriptor, _) => descriptor.price,
        }?;
        let tokens = [(usage.input_tokens, input), (usage.cached_tokens, cached), (usage.output_tokens, output)];
        #[expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^52")]
        let cost = tokens.map(|(count, price)| count as f64 * price).iter().sum::<f64>();
        Some(cost / 1e6)
    }
}

/// Where a program stands: as its name says, or on the path.
pub(crate) fn located(program: &str, environment: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| path.is_file());
    }
    let path = environment("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}
