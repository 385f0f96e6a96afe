#![allow(missing_docs, clippy::unwrap_used)]
use titr_common::trace::Source;
use titr_replayer::{
    platform::Platform,
    ranks::Seat,
    replay::{Options, replay},
    workload::Workload,
};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let platform = match Platform::load(args[0].as_ref(), &args[2..]) {
        Ok(p) => p,
        Err(e) => {
            println!("{:?}", miette::Report::from(e));
            std::process::exit(1)
        }
    };
    let source = Source::open(args[1].as_ref()).unwrap();
    let start = std::time::Instant::now();
    let seats = platform
        .place(source.ranks())
        .unwrap()
        .0
        .iter()
        .map(|&host| Seat { host, speed: platform.speed(host) })
        .collect();
    let outcome = replay(
        Workload::new(source.streams().unwrap()),
        seats,
        &platform.mpi,
        &mut *platform.network(),
        (),
        Options::default(),
    );
    match outcome {
        Ok(o) => println!(
            "{:.12} events {} messages {} wall {:.3}",
            o.simulated_time.seconds().0,
            o.events,
            o.messages,
            start.elapsed().as_secs_f64()
        ),
        Err(e) => println!("error {e}"),
    }
}
