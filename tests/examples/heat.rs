//! Heat in a rod, one piece a rank: a program in Rust that the tests trace. It exchanges the ends of pieces with both neighbours in each
//! step, without waiting for either first, and reduces the largest change.

use mpi::collective::SystemOperation;
use mpi::request::WaitGuard;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};

const CELLS: usize = 1000;
const STEPS: u32 = 20;

fn main() {
    let universe = mpi::initialize().expect("MPI starts once");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
    let (left, right) = (world.process_at_rank(left), world.process_at_rank(right));
    let mut cells = vec![f64::from(rank); CELLS];
    let mut largest = 0.0;
    for _ in 0..STEPS {
        let (first, last) = (cells[0], cells[CELLS - 1]);
        let (mut before, mut after) = (0.0, 0.0);
        mpi::request::scope(|scope| {
            let _before = WaitGuard::from(left.immediate_receive_into_with_tag(scope, &mut before, 1));
            let _after = WaitGuard::from(right.immediate_receive_into_with_tag(scope, &mut after, 2));
            right.send_with_tag(&last, 1);
            left.send_with_tag(&first, 2);
        });
        let next: Vec<f64> = (0..CELLS)
            .map(|cell| {
                let left = if cell == 0 { before } else { cells[cell - 1] };
                let right = cells.get(cell + 1).copied().unwrap_or(after);
                0.5 * cells[cell] + 0.25 * (left + right)
            })
            .collect();
        let change = next.iter().zip(&cells).map(|(new, old)| (new - old).abs()).fold(0.0, f64::max);
        cells = next;
        world.all_reduce_into(&change, &mut largest, SystemOperation::max());
    }
    if rank == 0 {
        println!("the largest change of the last step is {largest:.12}");
    }
}
