/* Communication patterns whose time is measured and predicted: `patterns UNIT REPEATS [NAME...]`. Each pattern is repeated
 * REPEATS times: after a barrier comes a round that is not measured, so that ranks have left step and connections exist, and
 * then some rounds that are. Rank 0 prints a line `NAME REPEAT SECONDS` for each repetition: the time of the rank that took
 * longest, between two calls of MPI_Iprobe. No pattern calls it itself, so that a replay finds the same interval. UNIT is the
 * size of a large message in bytes. */
#include "patterns.h"

int rank, size, unit;
char *out, *in;
size_t room;

static void *allocate(size_t bytes) {
    void *memory = calloc(bytes, 1);
    CHECK(memory);
    return memory;
}

static int modulo(int a, int b) { return ((a % b) + b) % b; }

/* Sends and receives `bytes` at once. */
static void swap(int to, int from, int bytes) {
    MPI_Sendrecv(out, bytes, MPI_BYTE, to, 0, in, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Large messages both ways between rank i and the rank half a world away. */
static void exchange(void) {
    int partner = (rank + size / 2) % size;
    swap(partner, partner, unit);
}

/* A large message from rank 0 to a rank half a world away, and back. */
static void ping_pong(void) {
    int partner = size / 2;
    if (rank == 0) MPI_Send(out, unit, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
    if (rank == partner) MPI_Recv(in, unit, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == partner) MPI_Send(out, unit, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(in, unit, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Every rank sends to the next and receives from the one before. */
static void shift(void) {
    swap((rank + 1) % size, modulo(rank - 1, size), unit);
}

/* The same from each host to the host half the hosts away, all in one direction. */
static void halves(void) {
    int partner = (rank + size / 2) % size;
    if (rank < size / 2) MPI_Send(out, unit, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
    else MPI_Recv(in, unit, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void alltoall(void) {
    MPI_Alltoall(out, unit / 4, MPI_BYTE, in, unit / 4, MPI_BYTE, MPI_COMM_WORLD);
}

/* Blocks from half to one and a half times those of the all-to-all. */
static void alltoallv(void) {
    int sends[size], receives[size], to[size], from[size], there = 0, back = 0;
    for (int i = 0; i < size; i++) {
        sends[i] = unit / 8 * (1 + modulo(rank + 2 * i, 3));
        receives[i] = unit / 8 * (1 + modulo(i + 2 * rank, 3));
        to[i] = there, there += sends[i];
        from[i] = back, back += receives[i];
    }
    MPI_Alltoallv(out, sends, to, MPI_BYTE, in, receives, from, MPI_BYTE, MPI_COMM_WORLD);
}

static void allgather(void) {
    MPI_Allgather(out, unit / 4, MPI_BYTE, in, unit / 4, MPI_BYTE, MPI_COMM_WORLD);
}

static void gather(void) {
    MPI_Gather(out, unit / 4, MPI_BYTE, in, unit / 4, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void scatter(void) {
    MPI_Scatter(out, unit / 4, MPI_BYTE, in, unit / 4, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void bcast(void) { MPI_Bcast(out, 2 * unit, MPI_BYTE, 0, MPI_COMM_WORLD); }

static void reduce(void) { MPI_Reduce(out, in, 2 * unit / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); }

static void allreduce(void) { MPI_Allreduce(out, in, 2 * unit / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

/* All ranks send to rank 0 at once, which takes what comes in the order of ranks. */
static void incast(void) {
    if (rank > 0) {
        MPI_Send(out, unit / 4, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        return;
    }
    MPI_Request requests[size];
    for (int i = 1; i < size; i++)
        MPI_Irecv(in + (size_t)i * (unit / 4), unit / 4, MPI_BYTE, i, 0, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(size - 1, requests + 1, MPI_STATUSES_IGNORE);
}

/* Halos of a 2-D grid with closed sides, to four neighbours at once. */
static void stencil_of(int bytes, int steps) {
    int dims[2] = {0, 0}, periods[2] = {1, 1}, neighbours[4];
    MPI_Comm grid;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &neighbours[0], &neighbours[1]);
    MPI_Cart_shift(grid, 1, 1, &neighbours[2], &neighbours[3]);
    for (int step = 0; step < steps; step++) {
        MPI_Request requests[8];
        for (int i = 0; i < 4; i++)
            MPI_Irecv(in + i * bytes, bytes, MPI_BYTE, neighbours[i], i, grid, &requests[i]);
        for (int i = 0; i < 4; i++)
            MPI_Isend(out + i * bytes, bytes, MPI_BYTE, neighbours[i], i ^ 1, grid, &requests[4 + i]);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Comm_free(&grid);
}

static void stencil(void) { stencil_of(unit / 2, 1); }

/* The same with messages that are sent at once. */
static void eager_stencil(void) { stencil_of(32768, unit / 131072); }

/* A ring through all ranks in random order, both ways, as in HPC Challenge; two orders. */
static void random_ring(void) {
    unsigned state = 1;
    for (int order = 0; order < 2; order++) {
        int ring[size], place = 0;
        for (int i = 0; i < size; i++) ring[i] = i;
        for (int i = size - 1; i > 0; i--) {
            state = state * 1103515245 + 12345;
            int j = (state >> 16) % (i + 1), kept = ring[i];
            ring[i] = ring[j], ring[j] = kept;
        }
        while (ring[place] != rank) place++;
        int next = ring[(place + 1) % size], last = ring[modulo(place - 1, size)];
        MPI_Request requests[4];
        MPI_Irecv(in, unit / 2, MPI_BYTE, last, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in + unit, unit / 2, MPI_BYTE, next, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(out, unit / 2, MPI_BYTE, next, 1, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(out + unit, unit / 2, MPI_BYTE, last, 2, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
}

/* The patterns, and how many rounds of each are measured. */
static const struct {
    const char *name;
    void (*run)(void);
    int rounds;
} patterns[] = {
    {"ping-pong", ping_pong, 2}, {"exchange", exchange, 4}, {"shift", shift, 4}, {"halves", halves, 4}, {"alltoall", alltoall, 4},
    {"alltoallv", alltoallv, 4}, {"allgather", allgather, 4}, {"gather", gather, 4}, {"scatter", scatter, 4},
    {"bcast", bcast, 2}, {"reduce", reduce, 2}, {"allreduce", allreduce, 2}, {"incast", incast, 4},
    {"stencil", stencil, 2}, {"eager-stencil", eager_stencil, 4}, {"random-ring", random_ring, 2},
    {"transpose", transpose, 4}, {"sort", sort, 4}, {"fourier", fourier, 4}, {"ptrans", ptrans, 4},
};

static int is_wanted(int pattern, char **names) {
    if (!*names) return 1;
    while (*names && strcmp(*names, patterns[pattern].name)) names++;
    return *names != NULL;
}

/* A call that takes no time and that a trace has: a replay finds in it where the measured time begins and ends. */
static void mark(void) {
    int found;
    MPI_Iprobe(0, 0, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
}

/* The seconds that so many rounds of a pattern take after another one, on the rank that takes longest. */
static double time_of(void (*run)(void), int rounds) {
    MPI_Barrier(MPI_COMM_WORLD);
    run();
    mark();
    double start = MPI_Wtime(), longest;
    for (int i = 0; i < rounds; i++) run();
    double seconds = MPI_Wtime() - start;
    mark();
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return longest;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(argc >= 3);
    unit = atoi(argv[1]);
    int repeats = atoi(argv[2]);
    CHECK(unit >= 131072 && unit % 131072 == 0);
    room = (size_t)unit / 2 * (size > 8 ? size : 8);
    out = allocate(room), in = allocate(room);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        if (!is_wanted((int)i, argv + 3)) continue;
        for (int repeat = 1; repeat <= repeats; repeat++) {
            double seconds = time_of(patterns[i].run, patterns[i].rounds);
            if (rank == 0) printf("%s %d %.6f\n", patterns[i].name, repeat, seconds), fflush(stdout);
        }
    }
    MPI_Finalize();
    return 0;
}
