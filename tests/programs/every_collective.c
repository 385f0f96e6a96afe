/* Every collective, blocking and not, with datatypes that have gaps and lie before their address, operations that do not commute,
 * MPI_IN_PLACE, no data at all, and communicators in another order. Prints a hash of each member's memory after each:
 * whoever carries the collective out, they are the same. Any number of ranks. */
#include "check.h"
#include <stdint.h>

enum { ROOM = 1 << 18, MARGIN = 1 << 12, CASES = 4000 };

static char *from, *to;
static uint64_t hashes[CASES];
static int cases;

static void fill(char *area, unsigned seed) {
    uint32_t state = seed * 2654435761u + rank * 40503u + 1;
    for (int i = 0; i < ROOM; i += 4) {
        state = state * 1664525u + 1013904223u;
        memcpy(area + i, &state, 4);
    }
}

static void prepare(void) {
    fill(from, cases * 2);
    fill(to, cases * 2 + 1);
}

static void note(int error) {
    uint64_t hash = 1469598103934665603u;
    CHECK(error == MPI_SUCCESS && cases < CASES);
    for (int i = 0; i < ROOM; i += 8) {
        uint64_t word;
        memcpy(&word, to + i, 8);
        hash = (hash ^ word) * 1099511628211u;
        memcpy(&word, from + i, 8);
        hash = (hash ^ word) * 1099511628211u;
    }
    hashes[cases++] = hash;
}

#define CASE(name, later, ...)                                   \
    do {                                                         \
        MPI_Request request;                                     \
        prepare();                                               \
        note(MPI_##name(__VA_ARGS__));                           \
        prepare();                                               \
        CHECK(MPI_I##later(__VA_ARGS__, &request) == MPI_SUCCESS); \
        note(MPI_Wait(&request, MPI_STATUS_IGNORE));             \
    } while (0)

/* Two ints that stand for x -> a x + b: composing these is associative and does not commute. */
static MPI_Datatype pairs[3];
static int offsets[3][2] = {{0, 4}, {0, 8}, {-8, 4}};
static int extents[3] = {8, 20, 16};

static void compose(void *in, void *inout, int *len, MPI_Datatype *type) {
    int which = *type == pairs[0] ? 0 : *type == pairs[1] ? 1 : 2;
    for (int i = 0; i < *len; i++) {
        char *first = (char *)in + i * (long)extents[which], *second = (char *)inout + i * (long)extents[which];
        uint32_t a1, b1, a2, b2;
        memcpy(&a1, first + offsets[which][0], 4), memcpy(&b1, first + offsets[which][1], 4);
        memcpy(&a2, second + offsets[which][0], 4), memcpy(&b2, second + offsets[which][1], 4);
        b2 = a1 * b2 + b1, a2 = a1 * a2;
        memcpy(second + offsets[which][0], &a2, 4), memcpy(second + offsets[which][1], &b2, 4);
    }
}

static void make_pairs(void) {
    MPI_Datatype plain;
    int ones[2] = {1, 1};
    MPI_Aint behind[2] = {-8, 4};
    MPI_Type_contiguous(2, MPI_INT, &pairs[0]);
    MPI_Type_vector(2, 1, 2, MPI_INT, &plain);
    MPI_Type_create_resized(plain, 0, 20, &pairs[1]);
    MPI_Type_create_hindexed(2, ones, behind, MPI_INT, &pairs[2]);
    for (int i = 0; i < 3; i++) MPI_Type_commit(&pairs[i]);
    MPI_Type_free(&plain);
}

static char *send, *recv;

static void move(MPI_Comm comm, MPI_Datatype type, int count, int root) {
    int me, all, counts[64], displs[64], whole = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    for (int i = 0; i < all; i++) {
        counts[i] = count == 0 ? 0 : (count + i * 3) % (count + 2);
        displs[i] = whole;
        whole += counts[i] + i % 2;
    }
    void *in_place = MPI_IN_PLACE;
    CASE(Bcast, bcast, recv, count, type, root, comm);
    CASE(Gather, gather, send, count, type, recv, count, type, root, comm);
    CASE(Gather, gather, me == root ? in_place : send, count, type, recv, count, type, root, comm);
    CASE(Scatter, scatter, send, count, type, recv, count, type, root, comm);
    CASE(Scatter, scatter, send, count, type, me == root ? in_place : recv, count, type, root, comm);
    CASE(Allgather, allgather, send, count, type, recv, count, type, comm);
    CASE(Allgather, allgather, in_place, 0, MPI_DATATYPE_NULL, recv, count, type, comm);
    CASE(Alltoall, alltoall, send, count, type, recv, count, type, comm);
    CASE(Alltoall, alltoall, in_place, 0, MPI_DATATYPE_NULL, recv, count, type, comm);
    CASE(Gatherv, gatherv, send, counts[me], type, recv, counts, displs, type, root, comm);
    CASE(Gatherv, gatherv, me == root ? in_place : send, counts[me], type, recv, counts, displs, type, root, comm);
    CASE(Scatterv, scatterv, send, counts, displs, type, recv, counts[me], type, root, comm);
    CASE(Scatterv, scatterv, send, counts, displs, type, me == root ? in_place : recv, counts[me], type, root, comm);
    CASE(Allgatherv, allgatherv, send, counts[me], type, recv, counts, displs, type, comm);
    CASE(Allgatherv, allgatherv, in_place, 0, MPI_DATATYPE_NULL, recv, counts, displs, type, comm);

    int sends[64], recvs[64], bytes[64];
    MPI_Datatype types[64];
    for (int i = 0; i < all; i++) {
        /* Symmetric, so that it can be done in place. */
        sends[i] = recvs[i] = count == 0 ? 0 : (count + i + me) % (count + 3);
        displs[i] = i * (count + 3);
        types[i] = type;
    }
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    for (int i = 0; i < all; i++) bytes[i] = displs[i] * extent;
    CASE(Alltoallv, alltoallv, send, sends, displs, type, recv, recvs, displs, type, comm);
    CASE(Alltoallv, alltoallv, in_place, NULL, NULL, MPI_DATATYPE_NULL, recv, recvs, displs, type, comm);
    CASE(Alltoallw, alltoallw, send, sends, bytes, types, recv, recvs, bytes, types, comm);
    CASE(Alltoallw, alltoallw, in_place, NULL, NULL, NULL, recv, recvs, bytes, types, comm);
}

static void reduce(MPI_Comm comm, MPI_Datatype type, MPI_Op op, int count, int root) {
    int me, all, counts[64];
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    for (int i = 0; i < all; i++) counts[i] = count == 0 ? 0 : (count + i * 3) % (count + 2);
    void *in_place = MPI_IN_PLACE;
    CASE(Reduce, reduce, send, recv, count, type, op, root, comm);
    CASE(Allreduce, allreduce, send, recv, count, type, op, comm);
    CASE(Allreduce, allreduce, in_place, recv, count, type, op, comm);
    CASE(Scan, scan, send, recv, count, type, op, comm);
    CASE(Scan, scan, in_place, recv, count, type, op, comm);
    CASE(Exscan, exscan, send, recv, count, type, op, comm);
    CASE(Exscan, exscan, in_place, recv, count, type, op, comm);
#ifdef OPEN_MPI
    /* MPICH 4.0.2 crashes in these, on one node and with gaps. */
    CASE(Reduce_scatter_block, reduce_scatter_block, send, recv, count, type, op, comm);
    CASE(Reduce_scatter, reduce_scatter, send, recv, counts, type, op, comm);
    CASE(Reduce, reduce, me == root ? in_place : send, recv, count, type, op, root, comm);
#else
    if (type == MPI_INT) {
        CASE(Reduce_scatter_block, reduce_scatter_block, send, recv, count, type, op, comm);
        CASE(Reduce_scatter, reduce_scatter, send, recv, counts, type, op, comm);
    }
#endif
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    from = malloc(ROOM), to = malloc(ROOM);
    send = from + MARGIN, recv = to + MARGIN;
    make_pairs();
    MPI_Op op;
    MPI_Op_create(compose, 0, &op);
    MPI_Comm comms[3];
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 3 == 0, rank, &comms[2]);
    int counts[4] = {0, 1, 7, 600};
    for (int c = 0; c < 3; c++) {
        int all, root;
        MPI_Comm_size(comms[c], &all);
        root = all / 2;
        CASE(Barrier, barrier, comms[c]);
        for (int n = 0; n < 4; n++) {
            int count = counts[n];
            move(comms[c], MPI_INT, count, root);
            reduce(comms[c], MPI_INT, MPI_SUM, count, root);
            reduce(comms[c], MPI_2INT, MPI_MAXLOC, count, root);
            for (int t = 1; t < 3; t++) {
                move(comms[c], pairs[t], count, root);
                reduce(comms[c], pairs[t], op, count, root);
            }
        }
        CASE(Bcast, bcast, MPI_BOTTOM, 0, MPI_INT, root, comms[c]);
        CASE(Bcast, bcast, recv, 40000, MPI_INT, root, comms[c]);
        CASE(Allreduce, allreduce, send, recv, 40000, MPI_INT, MPI_SUM, comms[c]);
        CASE(Reduce, reduce, send, recv, 40000, MPI_INT, MPI_BXOR, root, comms[c]);
        MPI_Comm_free(&comms[c]);
    }
    MPI_Op_free(&op);
    if (rank > 0) {
        MPI_Send(hashes, cases, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
    } else {
        for (int r = 0; r < size; r++) {
            if (r > 0) MPI_Recv(hashes, CASES, MPI_UINT64_T, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < cases; i++) printf("%d %d %016llx\n", r, i, (unsigned long long)hashes[i]);
        }
    }
    return end();
}
