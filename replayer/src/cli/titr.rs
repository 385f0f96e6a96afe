//! `titr`: replays traces of MPI programs, and everything else about them.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use super::titr_replay::titr_words;
use super::{
    advise, arguments, calibrate, cat, check, combine, convert, diff, efficiency, extrapolate, gather, generate, info,
    manual, place, platform, replay, run, schedule, schema, sweep, symbolize, tolerance, traffic, trigger, triggers,
    vary,
};

const EXAMPLES: &str = "\
Examples:
  titr replay --platform cluster.toml traces/
  titr info traces/
  titr check traces/
  titr cat traces/ --rank 5 | head
  titr gather node1/ node2/ --output traces.tar
  titr combine run-1/ run-2/ run-3/ --output traces
  titr extrapolate --ranks 1024 run-16/ run-64/ --output traces
  titr convert --to simgrid traces/ -o for-simgrid
  titr diff before.json after.json
  titr efficiency 16.json 32.json 64.json
  titr advise --platform cluster.toml traces/
  titr sweep study.toml --output results
  titr tolerance --platform cluster.toml traces/
  titr place --platform cluster.toml --output rankfile traces/
  titr platform show \"torus:4x4x4 10Gbit/s 1us host:4\" --report torus.html
  titr generate all-to-all --ranks 32 --bytes 10kB -o all-to-all
  titr schedule allreduce --library openmpi --algorithm ring --ranks 8 --bytes 64KiB
  titr calibrate measurements.json --output cluster.toml
  titr triggers messages.gz --exact -o triggered.gz

Exit status: 0 done; 1 the trace or a value is at fault; 2 wrong usage.";

/// Replays, inspects, checks, converts and generates traces of MPI programs.
#[derive(Parser)]
#[command(name = "titr", version, propagate_version = true, after_help = EXAMPLES)]
struct TitrArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Replay(Box<replay::ReplayArgs>),
    Vary(Box<vary::VaryArgs>),
    Traffic(traffic::TrafficArgs),
    Trigger(trigger::TriggerArgs),
    Info(info::InfoArgs),
    Check(check::CheckArgs),
    Advise(advise::AdviseArgs),
    Calibrate(Box<calibrate::CalibrateArgs>),
    Cat(cat::CatArgs),
    Combine(combine::CombineArgs),
    Completions(manual::CompletionsArgs),
    Convert(convert::ConvertArgs),
    Diff(diff::DiffArgs),
    Efficiency(efficiency::EfficiencyArgs),
    Extrapolate(extrapolate::ExtrapolateArgs),
    Gather(gather::GatherArgs),
    Generate(generate::GenerateArgs),
    Man(manual::ManArgs),
    Place(Box<place::PlaceArgs>),
    Platform(platform::PlatformArgs),
    Schedule(schedule::ScheduleArgs),
    Schema(schema::SchemaArgs),
    Sweep(sweep::SweepArgs),
    Symbolize(symbolize::SymbolizeArgs),
    Tolerance(Box<tolerance::ToleranceArgs>),
    Triggers(triggers::TriggersArgs),
}

/// The command, or `titr-replay` if it has this name.
#[must_use]
pub fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let called = words.first().and_then(|name| Path::new(name).file_name());
    let (name, words) = match called.is_some_and(|name| name == "titr-replay") {
        true => ("titr-replay", titr_words(words.into_iter().skip(1).collect())),
        false => ("titr", words),
    };
    let args: TitrArgs = arguments(&words);
    let status = run(name, |out| match &args.command {
        Command::Replay(args) => replay::replay(args, out),
        Command::Vary(args) => vary::vary(args, out),
        Command::Traffic(args) => traffic::traffic(args, out),
        Command::Trigger(args) => trigger::trigger(args, out),
        Command::Info(args) => info::info(args, out),
        Command::Check(args) => check::check(args, out),
        Command::Advise(args) => advise::advise(args, out),
        Command::Calibrate(args) => calibrate::calibrate(args, out),
        Command::Cat(args) => cat::cat(args, out),
        Command::Combine(args) => combine::combine(args),
        Command::Completions(args) => manual::completions(args, TitrArgs::command(), out),
        Command::Convert(args) => convert::convert(args),
        Command::Diff(args) => diff::diff(args, out),
        Command::Efficiency(args) => efficiency::efficiency(args, out),
        Command::Extrapolate(args) => extrapolate::extrapolate(args),
        Command::Gather(args) => gather::gather(args),
        Command::Generate(args) => generate::generate(args, out),
        Command::Man(args) => manual::man(args, TitrArgs::command()),
        Command::Schedule(args) => schedule::schedule(args, out),
        Command::Schema(args) => schema::print_schema(args, out),
        Command::Place(args) => place::place(args, out),
        Command::Platform(args) => platform::platform(args, out),
        Command::Sweep(args) => sweep::sweep(args, out),
        Command::Symbolize(args) => symbolize::symbolize(args),
        Command::Tolerance(args) => tolerance::tolerance(args, out),
        Command::Triggers(args) => triggers::triggers(args, out),
    });
    status.into()
}
