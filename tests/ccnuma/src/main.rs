//! Runs a shared-memory program on a cc-NUMA machine over a platform's network: `titr-ccnuma`, a study.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use serde::Serialize;
use titr_ccnuma::programs::{Fft, Program, Radix};
use titr_ccnuma::{Machine, MachineResult, Recorder};
use titr_common::output::Command;
use titr_common::terminal;
use titr_platform::Platform;

/// Runs a shared-memory program on a cc-NUMA machine, whose messages the network of a platform carries.
#[derive(Parser)]
#[command(name = "titr-ccnuma", version)]
struct Arguments {
    /// The program.
    program: ProgramName,
    /// The platform file.
    #[arg(long)]
    platform: PathBuf,
    /// Sets a key of the platform file, such as `network.bandwidth=2.2 GB/s`.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The nodes of the machine.
    #[arg(long, default_value_t = 16)]
    nodes: u32,
    /// Rows of FFT's matrix, or keys that each node has in Radix.
    #[arg(long)]
    size: usize,
    /// Writes a network trace.
    #[arg(long, value_name = "FILE")]
    network_trace: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ProgramName {
    /// The fast Fourier transform in six steps.
    Fft,
    /// Sorting by digits.
    Radix,
}

/// The object that is printed.
#[derive(Serialize)]
struct TimedResult {
    #[serde(flatten)]
    result: MachineResult,
    /// Time on the wall, in seconds.
    wall_seconds: f64,
}

/// Runs what the arguments say.
fn run(arguments: &Arguments) -> Result<MachineResult, Box<dyn std::error::Error>> {
    let _command = Command::begin();
    let &Arguments { nodes, size, .. } = arguments;
    let platform = Platform::load(&arguments.platform, &arguments.set)?;
    let program: Box<dyn Program> = match arguments.program {
        ProgramName::Fft => {
            let fft =
                Fft::new(nodes, size).ok_or("FFT needs a power of two as size, which the nodes share out evenly")?;
            Box::new(fft)
        }
        ProgramName::Radix => Box::new(Radix::new(nodes, size).ok_or("Radix needs keys, and nodes that divide 256")?),
    };
    let recorder = match &arguments.network_trace {
        Some(path) => {
            let failed = |error| format!("{}: {error}", path.display());
            Some(Recorder::create(path, nodes).map_err(failed)?)
        }
        None => None,
    };
    Ok(Machine::new(&platform, program, recorder)?.run()?)
}

fn main() -> ExitCode {
    let start = Instant::now();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            terminal::say_usage(&error.render().to_string());
            return ExitCode::from(2);
        }
        Err(error) => return terminal::status_of("titr-ccnuma", error.print()).into(),
    };
    let printed = run(&arguments).and_then(|result| {
        let timed = TimedResult { result, wall_seconds: start.elapsed().as_secs_f64() };
        Ok(serde_json::to_string_pretty(&timed)?)
    });
    match printed {
        Ok(text) => {
            terminal::print(format_args!("{text}"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            terminal::say(format_args!("titr-ccnuma: {error}"));
            ExitCode::FAILURE
        }
    }
}
