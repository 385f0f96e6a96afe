/* Collectives: blocking, non-blocking and persistent, in place or not, on one group and on two. */

#ifdef OPEN_MPI
/* MPI 4.0's persistent collectives under the names that Open MPI 4.1 gives them. */
#define INIT(function, ...)                                         \
    ({                                                              \
        static struct tally *tally;                                 \
        if (tally == NULL) tally = tally_of("MPIX_" #function "_init"); \
        ADD(tally->calls, 1);                                       \
        MPIX_##function##_init(__VA_ARGS__);                        \
    })
#else
#define INIT(function, ...) MPI(function##_init, __VA_ARGS__)
#endif

enum { BLOCKING, NONBLOCKING, PERSISTENT };

struct call {
    struct comm *comm;
    int mode;
    /* What this rank receives in the end. */
    void *buffer;
    long bytes;
    uint64_t key;
    struct parts parts;
    MPI_Request request;
};

/* Carries out a collective in its mode; it is noted when it is complete. */
static void collective_done(struct call *call, int rounds) {
    int asked = 0, flag;
    if (call->mode == BLOCKING) {
        if (call->buffer != NULL) note_parts(call->key, call->buffer, call->bytes, call->parts);
    } else if (call->mode == NONBLOCKING) {
        keep_collective(call->request, call->buffer, call->buffer == NULL ? 0 : call->bytes, call->key,
                        call->parts, call->comm->comm);
    } else {
        for (int i = 0; i < rounds; i++) {
            MPI(Start, &call->request);
            if (choose(2)) compute(choose(20));
            if (choose(2)) while (MPI(Test, &call->request, &flag, MPI_STATUS_IGNORE), !flag) patience(&asked);
            else MPI(Wait, &call->request, MPI_STATUS_IGNORE);
            if (call->buffer != NULL) note_parts(call->key + i, call->buffer, call->bytes, call->parts);
        }
        MPI(Request_free, &call->request);
    }
}

#define COLLECTIVE(name, small, ...)                                                              \
    do {                                                                                          \
        if (call.mode == BLOCKING) MPI(name, __VA_ARGS__);                                        \
        else if (call.mode == NONBLOCKING) MPI(I##small, __VA_ARGS__, &call.request);             \
        else INIT(name, __VA_ARGS__, MPI_INFO_NULL, &call.request);                               \
        collective_done(&call, rounds);                                                           \
    } while (0)

/* How often a persistent collective can be started: MPICH 4.0 lets a derived datatype go at each start, and its scatter fails when
 * it is started again on more than two ranks. */
static int startable(int rounds, int is_derived) {
#ifdef OPEN_MPI
    return rounds;
#else
    return is_derived ? 1 : rounds;
#endif
}

/* x → a x + b, composed: associative, and not commutative. */
static void compose(void *in, void *inout, int *length, MPI_Datatype *type) {
    uint32_t(*first)[2] = in, (*second)[2] = inout;
    for (int i = 0; i < *length; i++) {
        second[i][1] += second[i][0] * first[i][1];
        second[i][0] *= first[i][0];
    }
}

static void mix(void *in, void *inout, int *length, MPI_Datatype *type) {
    for (int i = 0; i < 2 * *length; i++) ((uint32_t *)inout)[i] ^= ((uint32_t *)in)[i];
}

static MPI_Op ops[2];
static MPI_Datatype pair;

static void make_ops(void) {
    MPI(Op_create, compose, 0, &ops[0]);
    MPI(Op_create, mix, 1, &ops[1]);
    MPI(Type_contiguous, 2, MPI_INT, &pair);
    MPI(Type_commit, &pair);
}

static void free_ops(void) {
    MPI(Op_free, &ops[0]);
    MPI(Op_free, &ops[1]);
    MPI(Type_free, &pair);
}

/* Counts and displacements of all, which live as long as the program. */
struct layout {
    int *counts, *places;
    long whole;
};

static struct layout draw_layout(int all, int most) {
    struct layout layout = {room(all * sizeof(int)), room(all * sizeof(int)), 0};
    for (int i = 0; i < all; i++) {
        layout.counts[i] = most == 0 ? 0 : draw(most + 1);
        layout.places[i] = layout.whole;
        layout.whole += layout.counts[i] + draw(3);
    }
    return layout;
}

/* Data that moves: between a root and all, or between all. */
static void move(struct comm *comm, int mode) {
    int all = comm->count[0], root = draw(all), count = draw_count() % 4000, which = draw(12), in_place = draw(3) == 0;
    int rounds = 1 + draw(3), me = comm->me, at_root = me == root;
    struct type *type = draw_type();
    struct layout layout = draw_layout(all, count % 200);
    MPI_Datatype of = type->type;
#ifndef OPEN_MPI
    /* MPICH 4.0 mixes up elements with gaps in large trees, and where it exchanges many in place. */
    int has_gaps = type->size != type->extent;
    if (has_gaps && (which == 1 || which == 2)) which += 2;
    if (has_gaps && which == 7) in_place = 0;
#endif
    struct call call = {.comm = comm, .mode = mode, .key = key_of(0)};
    if (!is_member(comm)) return;
    /* For v variants: as many elements between any two, each way. */
    long each = (long)count * type->extent, whole = all * each + layout.whole * type->extent;
    char *from = filled(whole, key_of(rank + 1)), *to = filled(whole, in_place ? key_of(rank + 1) : 1);
    MPI_Comm on = comm->comm;
    int mine = layout.counts[me], *counts = layout.counts, *places = layout.places;
    call.buffer = to, call.bytes = whole;
    if (which == 1 || which == 3) call.buffer = at_root ? to : NULL;
    void *root_from = at_root && in_place ? MPI_IN_PLACE : from, *root_to = at_root && in_place ? MPI_IN_PLACE : to;
    void *all_from = in_place ? MPI_IN_PLACE : from;
    rounds = startable(rounds, type >= &types[SPARSE]);
    switch (which) {
        case 0: COLLECTIVE(Bcast, bcast, to, count, of, root, on); break;
        case 1: COLLECTIVE(Gather, gather, root_from, count, of, to, count, of, root, on); break;
        case 2:
            if (at_root) call.buffer = in_place ? NULL : to;
            rounds = startable(rounds, 1);
            COLLECTIVE(Scatter, scatter, from, count, of, root_to, count, of, root, on);
            break;
        case 3: COLLECTIVE(Gatherv, gatherv, root_from, mine, of, to, counts, places, of, root, on); break;
        case 4:
            if (at_root) call.buffer = in_place ? NULL : to;
            COLLECTIVE(Scatterv, scatterv, from, counts, places, of, root_to, mine, of, root, on);
            break;
        case 5: COLLECTIVE(Allgather, allgather, all_from, count, of, to, count, of, on); break;
        case 6: COLLECTIVE(Allgatherv, allgatherv, all_from, mine, of, to, counts, places, of, on); break;
        case 7: COLLECTIVE(Alltoall, alltoall, all_from, count, of, to, count, of, on); break;
        case 8: COLLECTIVE(Barrier, barrier, on); break;
        default: {
            /* What i sends to j is what j sends to i, as in place it has to be. */
            int *some = room(all * sizeof(int)), *far = room(all * sizeof(int)), *bytes = room(all * sizeof(int));
            MPI_Datatype *kinds = room(all * sizeof(MPI_Datatype));
            for (int i = 0; i < all; i++) {
                some[i] = count == 0 ? 0 : (i + me + program.step) % count, far[i] = i * count;
                bytes[i] = far[i] * type->extent, kinds[i] = of;
            }
            if (which == 9) COLLECTIVE(Alltoallw, alltoallw, all_from, some, bytes, kinds, to, some, bytes, kinds, on);
            else COLLECTIVE(Alltoallv, alltoallv, all_from, some, far, of, to, some, far, of, on);
        }
    }
}

/* Data that is combined. */
static void combine(struct comm *comm, int mode) {
    int all = comm->count[0], root = draw(all), count = draw_count() % 4000, which = draw(6), in_place = draw(3) == 0;
    int rounds = 1 + draw(3), kind = draw(6);
#ifndef OPEN_MPI
    /* MPICH 4.0 copies from MPI_IN_PLACE in a large reduction to another root. */
    if (in_place) root = 0;
#endif
    int at_root = comm->me == root;
    /* What is left in the input of some is undefined after the first round. */
    if (in_place && which >= 3) rounds = 1;
    struct layout layout = draw_layout(all, count % 100);
    MPI_Op op = kind < 2 ? ops[kind] : kind == 2 ? MPI_SUM : kind == 3 ? MPI_BXOR : kind == 4 ? MPI_MAX : MPI_MINLOC;
    MPI_Datatype of = kind < 2 ? pair : kind == 5 ? MPI_2INT : kind == 4 ? MPI_SHORT : MPI_INT;
    int size_of = kind < 2 || kind == 5 ? 8 : kind == 4 ? 2 : 4;
    struct call call = {.comm = comm, .mode = mode, .key = key_of(0)};
    if (!is_member(comm)) return;
    long sum = 0;
    for (int i = 0; i < all; i++) sum += layout.counts[i];
    long bytes = ((long)count * all + sum) * size_of;
    char *from = filled(bytes, key_of(rank + 1)), *to = filled(bytes, in_place ? key_of(rank + 1) : 1);
    MPI_Comm on = comm->comm;
    call.buffer = to, call.bytes = (long)count * size_of;
    void *all_from = in_place ? MPI_IN_PLACE : from;
    rounds = startable(rounds, kind < 2);
    switch (which) {
        case 0:
            call.buffer = at_root ? to : NULL;
            COLLECTIVE(Reduce, reduce, at_root && in_place ? MPI_IN_PLACE : from, to, count, of, op, root, on);
            break;
        case 1: COLLECTIVE(Allreduce, allreduce, all_from, to, count, of, op, on); break;
        case 2: COLLECTIVE(Scan, scan, all_from, to, count, of, op, on); break;
        case 3:
            /* The first rank's result is undefined. */
            if (comm->me == 0) call.buffer = NULL;
            COLLECTIVE(Exscan, exscan, all_from, to, count, of, op, on);
            break;
        case 4: COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, all_from, to, count, of, op, on); break;
        default:
            call.bytes = (long)layout.counts[comm->me] * size_of;
            COLLECTIVE(Reduce_scatter, reduce_scatter, all_from, to, layout.counts, of, op, on);
    }
}

/* Between the groups of an inter-communicator. */
static void between(struct comm *comm, int mode) {
    int side = draw(2), root = draw(comm->count[side]), count = draw_count() % 4000, which = draw(8), rounds = 1;
    struct call call = {.comm = comm, .mode = mode, .key = key_of(0)};
    if (!is_member(comm)) return;
    int remote = comm->count[1 - comm->side], ours = comm->side == side;
    /* The root's own group says who is the root and who does nothing, the other one names it. */
    int who = !ours ? root : comm->me == root ? MPI_ROOT : MPI_PROC_NULL;
    long each = (long)count * 4, whole = each * (remote + comm->count[comm->side]);
    char *from = filled(whole, key_of(rank + 1)), *to = filled(whole, 1);
    MPI_Comm on = comm->comm;
    call.buffer = to, call.bytes = whole;
    switch (which) {
        case 0:
            if (who == MPI_PROC_NULL) call.buffer = NULL;
            COLLECTIVE(Bcast, bcast, to, count, MPI_INT, who, on);
            break;
        case 1:
            if (who != MPI_ROOT) call.buffer = NULL;
            COLLECTIVE(Gather, gather, from, count, MPI_INT, to, count, MPI_INT, who, on);
            break;
        case 2:
            if (ours) call.buffer = NULL;
            COLLECTIVE(Scatter, scatter, from, count, MPI_INT, to, count, MPI_INT, who, on);
            break;
        case 3: COLLECTIVE(Allgather, allgather, from, count, MPI_INT, to, count, MPI_INT, on); break;
        case 4: COLLECTIVE(Alltoall, alltoall, from, count, MPI_INT, to, count, MPI_INT, on); break;
        case 5: COLLECTIVE(Allreduce, allreduce, from, to, count, MPI_INT, MPI_SUM, on); break;
        case 6:
            if (who != MPI_ROOT) call.buffer = NULL;
            COLLECTIVE(Reduce, reduce, from, to, count, MPI_INT, MPI_BXOR, who, on);
            break;
        default: COLLECTIVE(Barrier, barrier, on);
    }
}

/* Where a neighbour stands must not matter: the part from each is named after it and begins with the same contents, and where
 * parts are `sent` one by one, each depends on its receiver. */
static struct parts parts_of_neighbors(const struct comm *comm, long each, char *from, int sent, char *to) {
    int me = comm->me, ins = comm->ins[me], outs = comm->outs[me], *names = room((ins + outs + 1) * sizeof(int));
    for (int i = 0; i < ins + outs + 1; i++) names[i] = i < ins ? comm->in[me][i] : RANKS + i;
    for (int i = 0; i < ins; i++) memcpy(to + i * each, filled(each, 1), each);
    for (int i = 0; i < outs && sent; i++)
        memcpy(from + i * each, filled(each, key_of(rank + 1) + 1000 * comm->out[me][i]), each);
    return (struct parts){each, names};
}

/* Between the neighbours of a topology. */
static void between_neighbors(struct comm *comm, int mode) {
    int count = draw_count() % 1000, which = draw(5), rounds = 1 + draw(3);
    struct type *type = draw_type();
    struct call call = {.comm = comm, .mode = mode, .key = key_of(0)};
    if (!is_member(comm)) return;
#ifndef OPEN_MPI
    /* In MPICH 4.0's MPI_Neighbor_alltoallw, some receive something else than was sent to them. */
    if (which == 4) which = 3;
#endif
    int ins = comm->ins[comm->me], outs = comm->outs[comm->me];
    long each = (long)count * type->extent, whole = each * (ins + outs + 1);
    char *from = filled(whole, key_of(rank + 1)), *to = filled(whole, 1);
    int most = 2 * RANKS + 4;
    int *sends = room(most * 4), *recvs = room(most * 4), *there = room(most * 4), *here = room(most * 4);
    MPI_Aint *there_bytes = room(most * 8), *here_bytes = room(most * 8);
    MPI_Datatype *kinds = room(most * sizeof(MPI_Datatype)), of = type->type;
    MPI_Comm on = comm->comm;
    /* What goes from one rank to another depends on both. */
#define BETWEEN(a, b) (count == 0 ? 0 : ((a) + 2 * (b) + 4 + program.step) % count)
    for (int i = 0; i < outs; i++) sends[i] = BETWEEN(comm->me, comm->out[comm->me][i]), there[i] = i * count;
    for (int i = 0; i < ins; i++) recvs[i] = BETWEEN(comm->in[comm->me][i], comm->me), here[i] = i * count;
    for (int i = 0; i < most; i++)
        kinds[i] = of, there_bytes[i] = (long)there[i] * type->extent, here_bytes[i] = (long)here[i] * type->extent;
    call.buffer = to, call.bytes = whole;
    if (comm->is_unordered && each > 0) call.parts = parts_of_neighbors(comm, each, from, which > 1, to);
    rounds = startable(rounds, type >= &types[SPARSE]);
    switch (which) {
        case 0: COLLECTIVE(Neighbor_allgather, neighbor_allgather, from, count, of, to, count, of, on); break;
        case 1: {
            /* Each gives the same to all its neighbours. */
            for (int i = 0; i < ins; i++) recvs[i] = BETWEEN(comm->in[comm->me][i], 0);
            int mine = BETWEEN(comm->me, 0);
            COLLECTIVE(Neighbor_allgatherv, neighbor_allgatherv, from, mine, of, to, recvs, here, of, on);
            break;
        }
        case 2: COLLECTIVE(Neighbor_alltoall, neighbor_alltoall, from, count, of, to, count, of, on); break;
        case 3: COLLECTIVE(Neighbor_alltoallv, neighbor_alltoallv, from, sends, there, of, to, recvs, here, of, on); break;
        default:
            COLLECTIVE(Neighbor_alltoallw, neighbor_alltoallw, from, sends, there_bytes, kinds, to, recvs, here_bytes, kinds, on);
    }
#undef BETWEEN
}

static void collective(struct comm *comm) {
    int mode = draw(plain ? PERSISTENT : 3), reduces = draw(2);
    if (comm->kind == INTER) between(comm, mode == PERSISTENT ? BLOCKING : mode);
    else if (comm->kind != PLAIN && draw(2)) between_neighbors(comm, mode);
    else if (reduces) combine(comm, mode);
    else move(comm, mode);
}
