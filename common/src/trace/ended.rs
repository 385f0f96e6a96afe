//! The end of a rank's trace: by `MPI_Finalize`, an exit, an error or a signal.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The way in which the trace of a rank ended. The trace is complete up to that point, unless the rank was
/// [killed](Self::Running).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// The rank is still running, or it was killed.
    #[default]
    Running,
    /// The trace ended in `MPI_Finalize`.
    Finalize,
    /// The process exited without `MPI_Finalize`.
    Exit,
    /// The process ended by `_exit` or `_Exit`.
    #[serde(rename = "_exit")]
    ImmediateExit,
    /// The process replaced its program by a function of the `exec` family.
    Exec,
    /// The trace ended in `MPI_Abort`.
    Abort,
    /// The MPI library ended the process because of an error in a call.
    Error,
    /// The process was ended by a signal that the program does not handle.
    Signal(Signal),
}

impl Ended {
    /// Whether this may be the work of a launcher, which ends all ranks when one has failed.
    #[must_use]
    pub fn may_be_consequence(self) -> bool {
        matches!(self, Self::Running | Self::Signal(Signal(SIGTERM)))
    }
}

/// The signal by which launchers end ranks.
const SIGTERM: i32 = 15;

/// A signal by its number on Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
pub struct Signal(pub i32);

/// The names of the signals from 1 on, as x86-64 and AArch64 number them.
const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
    "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO",
    "PWR", "SYS",
];

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match usize::try_from(self.0 - 1).ok().and_then(|index| NAMES.get(index)) {
            Some(name) => write!(f, "SIG{name}"),
            None => write!(f, "signal {}", self.0),
        }
    }
}

impl From<Signal> for String {
    fn from(signal: Signal) -> Self {
        signal.to_string()
    }
}

impl TryFrom<String> for Signal {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let named = text.strip_prefix("SIG").and_then(|name| NAMES.iter().position(|known| *known == name));
        let number = named.map(|index| index as i32 + 1);
        let number = number.or_else(|| text.strip_prefix("signal ")?.parse().ok());
        number.map(Self).ok_or_else(|| format!("'{text}' is no signal"))
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Running => f.write_str("killed, or still running"),
            Self::Finalize => f.write_str("in MPI_Finalize"),
            Self::Exit => f.write_str("without MPI_Finalize"),
            Self::ImmediateExit => f.write_str("by _exit, without MPI_Finalize"),
            Self::Exec => f.write_str("by exec, without MPI_Finalize"),
            Self::Abort => f.write_str("in MPI_Abort"),
            Self::Error => f.write_str("by an MPI error"),
            Self::Signal(signal) => write!(f, "by {signal}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_reads_back_as_itself() {
        let endings = [Ended::Running, Ended::Finalize, Ended::Exit, Ended::ImmediateExit, Ended::Exec, Ended::Abort];
        let signals = (1..=64).map(|number| Ended::Signal(Signal(number)));
        for ended in endings.into_iter().chain([Ended::Error]).chain(signals) {
            let text = serde_json::to_string(&ended).unwrap();
            assert_eq!(serde_json::from_str::<Ended>(&text).unwrap(), ended, "{text}");
        }
        assert_eq!(serde_json::to_string(&Ended::Signal(Signal(15))).unwrap(), r#"{"signal":"SIGTERM"}"#);
        assert_eq!(serde_json::to_string(&Ended::ImmediateExit).unwrap(), r#""_exit""#);
    }

    #[test]
    fn an_unknown_signal_is_refused() {
        let error = serde_json::from_str::<Ended>(r#"{"signal":"SIGNONE"}"#).unwrap_err();
        assert!(error.to_string().starts_with("'SIGNONE' is no signal"), "{error}");
    }
}
