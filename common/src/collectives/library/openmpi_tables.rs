//! The fixed decision rules of Open MPI 4.1.4's `tuned` component as tables
//! (`coll_tuned_decision_fixed.c`; its authors averaged them from measurements on several clusters).

use crate::collectives::algorithms::{
    Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Gather, Reduce, ReduceScatter, Scatter,
};

/// Algorithms by message size: each up to, but not including, its number of bytes; then the one for anything longer.
type Row<A> = (&'static [(u64, A)], A);

/// Rows by communicator size: each up to, but not including, its number of members; then the one for anything larger.
pub(super) struct Table<A: 'static> {
    rows: &'static [(u32, Row<A>)],
    large: Row<A>,
}

impl<A: Copy> Table<A> {
    pub(super) fn look_up(&self, size: u32, bytes: u64) -> A {
        let row = self.rows.iter().find(|(below, _)| size < *below);
        let (rules, longer) = row.map_or(self.large, |(_, row)| *row);
        let rule = rules.iter().find(|(below, _)| bytes < *below);
        rule.map_or(longer, |(_, algorithm)| *algorithm)
    }
}

/// Writes a table: a line for each communicator size, with the algorithms by message size between the brackets.
macro_rules! rules {
    ($name:ident: $type:ident
     $($below:literal => [$($bytes:literal $algorithm:ident),*] $longer:ident,)+
     _ => [$($large_bytes:literal $large:ident),*] $largest:ident,) => {
        pub(super) const $name: Table<$type> = Table {
            rows: &[$(($below, (&[$(($bytes, $type::$algorithm)),*], $type::$longer)),)+],
            large: (&[$(($large_bytes, $type::$large)),*], $type::$largest),
        };
    };
}

rules! { ALLREDUCE_IN_ORDER: Allreduce
        4 => [131_072 RecursiveDoubling] Linear,
        8 => [] RecursiveDoubling,
       16 => [1_048_576 RecursiveDoubling] NonOverlapping,
      128 => [] RecursiveDoubling,
      256 => [131_072 NonOverlapping, 524_288 RecursiveDoubling] NonOverlapping,
      512 => [4_096 NonOverlapping, 524_288 RecursiveDoubling] NonOverlapping,
        _ => [2_048 NonOverlapping] RecursiveDoubling,
}

rules! { ALLREDUCE: Allreduce
        4 => [8 Ring, 4_096 RecursiveDoubling, 8_192 Ring, 16_384 RecursiveDoubling, 65_536 Ring,
              262_144 SegmentedRing] Rabenseifner,
        8 => [16 Ring, 8_192 RecursiveDoubling] Rabenseifner,
       16 => [8_192 RecursiveDoubling] Rabenseifner,
       32 => [64 SegmentedRing, 4_096 RecursiveDoubling] Rabenseifner,
       64 => [128 SegmentedRing] Rabenseifner,
      128 => [262_144 RecursiveDoubling] Rabenseifner,
      256 => [131_072 NonOverlapping, 262_144 RecursiveDoubling] Rabenseifner,
      512 => [4_096 NonOverlapping] Rabenseifner,
    2_048 => [2_048 NonOverlapping, 16_384 RecursiveDoubling] Rabenseifner,
    4_096 => [2_048 NonOverlapping, 4_096 SegmentedRing, 16_384 RecursiveDoubling] Rabenseifner,
        _ => [2_048 NonOverlapping, 16_384 SegmentedRing, 32_768 RecursiveDoubling] Rabenseifner,
}

rules! { ALLTOALL: Alltoall
        3 => [2 Pairwise, 4 TwoProc, 16 Pairwise, 64 TwoProc, 256 Pairwise, 4_096 TwoProc, 32_768 Pairwise,
              262_144 LinearSync, 1_048_576 TwoProc] Pairwise,
        8 => [8_192 LinearSync, 16_384 Linear, 65_536 LinearSync, 524_288 Linear, 1_048_576 Pairwise] Linear,
       16 => [262_144 LinearSync] Linear,
       32 => [4 LinearSync, 512 Bruck, 8_192 LinearSync, 32_768 Linear, 262_144 LinearSync, 524_288 Linear] LinearSync,
       64 => [512 Bruck, 524_288 Linear] LinearSync,
      128 => [1_024 Bruck, 2_048 Linear, 4_096 LinearSync, 262_144 Linear] Pairwise,
      256 => [1_024 Bruck, 2_048 LinearSync, 262_144 Linear] Pairwise,
      512 => [1_024 Bruck, 8_192 LinearSync, 32_768 Linear] Pairwise,
    1_024 => [512 Bruck, 8_192 LinearSync, 16_384 Linear, 131_072 LinearSync, 262_144 Linear] Pairwise,
    2_048 => [512 Bruck, 1_024 LinearSync, 2_048 Linear, 16_384 LinearSync, 262_144 Linear] LinearSync,
    4_096 => [1_024 Bruck, 4_096 LinearSync, 8_192 Linear, 131_072 LinearSync] Linear,
        _ => [2_048 Bruck, 8_192 LinearSync, 16_384 Linear, 32_768 LinearSync, 65_536 Linear] LinearSync,
}

rules! { ALLTOALLV: Alltoallv
        4 => [] Pairwise,
       64 => [] Linear,
      128 => [] Pairwise,
      256 => [] Linear,
    1_024 => [] Pairwise,
        _ => [] Linear,
}

rules! { BARRIER: Barrier
        4 => [] RecursiveDoubling,
        8 => [] Linear,
       64 => [] RecursiveDoubling,
      256 => [] Dissemination,
      512 => [] Tree,
    1_024 => [] Dissemination,
    4_096 => [] Tree,
        _ => [] Dissemination,
}

rules! { BCAST: Bcast
        4 => [32 Pipeline, 256 Binary, 512 Pipeline, 1_024 Knomial, 32_768 Linear, 131_072 Binary, 262_144 Chain,
              524_288 Linear, 1_048_576 BinomialDoubling] Binary,
        8 => [64 Binary, 128 BinomialDoubling, 2_048 Binary, 8_192 BinomialDoubling, 1_048_576 Linear] Chain,
       16 => [8 Knomial, 64 Binary, 4_096 Knomial, 16_384 Binary, 32_768 BinomialDoubling] Linear,
       32 => [4_096 Knomial, 1_048_576 BinomialDoubling] ScatterAllgather,
       64 => [2_048 BinomialDoubling] Knomial,
      128 => [] Knomial,
      256 => [2 BinomialDoubling, 16_384 Binary, 32_768 Linear, 65_536 Binary] Knomial,
    1_024 => [16_384 Knomial, 32_768 SplitBinary] Knomial,
    2_048 => [524_288 Knomial] ScatterAllgather,
    4_096 => [262_144 Knomial] ScatterAllgather,
        _ => [8_192 Knomial, 16_384 Binary, 262_144 Knomial] ScatterAllgather,
}

rules! { REDUCE_IN_ORDER: Reduce
        4 => [8 InOrderBinary] Linear,
        8 => [] Linear,
       16 => [1_024 InOrderBinary, 8_192 Linear, 16_384 InOrderBinary, 262_144 Linear] InOrderBinary,
      128 => [] InOrderBinary,
      256 => [512 InOrderBinary, 1_024 Linear] InOrderBinary,
        _ => [] InOrderBinary,
}

rules! { REDUCE: Reduce
        4 => [8 Rabenseifner, 16 Binary, 32 Pipeline, 262_144 Linear, 524_288 Pipeline, 1_048_576 Chain] Pipeline,
        8 => [4_096 Binary, 65_536 Chain, 262_144 BinomialPipelined, 524_288 Linear,
              1_048_576 BinomialPipelined] Linear,
       16 => [8_192 Binary] BinomialPipelined,
       32 => [4_096 Binary] BinomialPipelined,
      256 => [] BinomialPipelined,
      512 => [8_192 BinomialPipelined, 16_384 InOrderBinary] BinomialPipelined,
    2_048 => [] BinomialPipelined,
    4_096 => [512 BinomialPipelined, 1_024 InOrderBinary, 8_192 BinomialPipelined,
              16_384 InOrderBinary] BinomialPipelined,
        _ => [16 BinomialPipelined, 32 InOrderBinary, 1_024 BinomialPipelined, 2_048 InOrderBinary,
              8_192 BinomialPipelined, 16_384 InOrderBinary] BinomialPipelined,
}

rules! { REDUCE_SCATTER: ReduceScatter
        4 => [65_536 Ring, 131_072 Butterfly] Ring,
        8 => [8 NonOverlapping, 262_144 RecursiveHalving] Ring,
       32 => [262_144 RecursiveHalving] Ring,
       64 => [64 NonOverlapping, 2_048 RecursiveHalving, 524_288 Butterfly] Ring,
      128 => [256 NonOverlapping, 512 RecursiveHalving, 2_048 Butterfly, 4_096 RecursiveHalving] Butterfly,
      256 => [256 NonOverlapping, 512 RecursiveHalving] Butterfly,
      512 => [256 NonOverlapping, 1_024 RecursiveHalving] Butterfly,
    1_024 => [512 NonOverlapping, 2_048 RecursiveHalving, 8_192 Butterfly, 16_384 RecursiveHalving] Butterfly,
    2_048 => [512 NonOverlapping, 4_096 RecursiveHalving, 16_384 Butterfly, 32_768 RecursiveHalving] Butterfly,
    4_096 => [512 NonOverlapping, 4_096 RecursiveHalving] Butterfly,
        _ => [1_024 NonOverlapping, 8_192 RecursiveHalving] Butterfly,
}

rules! { REDUCE_SCATTER_BLOCK: ReduceScatter
        4 => [4 RecursiveDoubling, 8 Butterfly, 16 RecursiveHalving, 128 Butterfly, 256 RecursiveHalving,
              4_096 Butterfly, 8_192 RecursiveHalving, 131_072 Butterfly] NonOverlapping,
        8 => [8 RecursiveHalving, 32 RecursiveDoubling, 256 Butterfly, 8_192 RecursiveHalving, 16_384 Butterfly,
              1_048_576 RecursiveHalving] NonOverlapping,
       16 => [4 NonOverlapping, 32 RecursiveHalving, 128 Butterfly, 524_288 RecursiveHalving,
              4_194_304 NonOverlapping] Butterfly,
       32 => [32 NonOverlapping, 524_288 RecursiveHalving, 2_097_152 NonOverlapping,
              4_194_304 RecursiveHalving] Butterfly,
        _ => [4 RecursiveHalving, 16 NonOverlapping, 65_536 Butterfly, 262_144 NonOverlapping] Butterfly,
}

rules! { ALLGATHER: Allgather
        3 => [] TwoProc,
       32 => [] RecursiveDoubling,
       64 => [1_024 RecursiveDoubling, 65_536 NeighborExchange] Ring,
      128 => [512 RecursiveDoubling, 65_536 NeighborExchange] Ring,
      256 => [512 RecursiveDoubling, 131_072 NeighborExchange, 524_288 Ring, 1_048_576 NeighborExchange] Ring,
      512 => [32 RecursiveDoubling, 128 Bruck, 1_024 RecursiveDoubling, 131_072 NeighborExchange, 524_288 Ring,
              1_048_576 NeighborExchange] Ring,
    1_024 => [64 RecursiveDoubling, 256 Bruck, 2_048 RecursiveDoubling] NeighborExchange,
    2_048 => [4 RecursiveDoubling, 8 Bruck, 16 RecursiveDoubling, 32 Bruck, 256 RecursiveDoubling, 512 Bruck,
              4_096 RecursiveDoubling] NeighborExchange,
    4_096 => [32 Bruck, 128 RecursiveDoubling, 512 Bruck, 4_096 RecursiveDoubling] NeighborExchange,
        _ => [2 RecursiveDoubling, 8 Bruck, 16 RecursiveDoubling, 512 Bruck, 4_096 RecursiveDoubling] NeighborExchange,
}

rules! { ALLGATHERV: Allgatherv
        3 => [2_048 Ring, 4_096 TwoProc, 8_192 Ring] TwoProc,
        8 => [256 Linear, 4_096 NeighborExchange, 8_192 Ring, 16_384 NeighborExchange, 262_144 Bruck] NeighborExchange,
       16 => [1_024 Linear] Bruck,
       32 => [128 Linear, 262_144 Bruck] Ring,
       64 => [256 Linear, 8_192 Bruck] Ring,
      128 => [256 Linear, 4_096 Bruck] Ring,
      256 => [1_024 Bruck, 65_536 NeighborExchange] Ring,
      512 => [1_024 Bruck] Ring,
    1_024 => [512 Bruck, 1_024 Linear, 4_096 Bruck, 1_048_576 NeighborExchange] Ring,
        _ => [4_096 Bruck] NeighborExchange,
}

rules! { GATHER: Gather
        4 => [2 LinearSync, 4 Linear, 32_768 Binomial, 65_536 Linear, 131_072 Binomial] LinearSync,
        8 => [1_024 Binomial, 8_192 Linear, 32_768 Binomial, 262_144 Linear] LinearSync,
      256 => [] Binomial,
      512 => [2_048 Binomial, 8_192 Linear] Binomial,
        _ => [] Binomial,
}

rules! { SCATTER: Scatter
        4 => [2 LinearNonblocking, 131_072 Linear, 262_144 LinearNonblocking] Linear,
        8 => [2_048 Binomial, 4_096 Linear, 8_192 Binomial, 32_768 Linear, 1_048_576 LinearNonblocking] Linear,
       16 => [16_384 Binomial, 1_048_576 LinearNonblocking] Linear,
       32 => [16_384 Binomial, 32_768 Linear] LinearNonblocking,
       64 => [512 Binomial, 8_192 LinearNonblocking, 16_384 Binomial] LinearNonblocking,
        _ => [512 Binomial] LinearNonblocking,
}
