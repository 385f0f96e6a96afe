/* Random orders of what makes communicators and of non-blocking collectives: each order, drawn from its number, is the same on all
 * ranks, and on each rank some requests are completed meanwhile, and all at the end in one of several ways.
 * Arguments: the first order, and how many. */
#include "check.h"

enum { MANY = 12, RANKS = 16 };

enum operation { IDUP, IDUP_WITH_INFO, IBARRIER, IALLREDUCE, IBCAST, IGATHER, DUP, SPLIT, CREATE_GROUP, ALLREDUCE, OPERATIONS };

static unsigned long long state;

static int draw(int choices) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((state >> 33) % choices);
}

/* An operation that was started. */
struct started {
    enum operation operation;
    int number, in, out, all[RANKS];
    MPI_Comm made;
};

static struct started started[MANY];
static MPI_Request requests[MANY];
static int count;

/* Open MPI 4 does not have the second function. */
static void duplicate(MPI_Comm comm, int with_info, MPI_Comm *made, MPI_Request *request) {
#if MPI_VERSION >= 4
    if (with_info) {
        MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, made, request);
        return;
    }
#endif
    MPI_Comm_idup(comm, made, request);
}

static void use(MPI_Comm comm) {
    int one = 1, members, sum;
    MPI_Comm_size(comm, &members);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == members);
    MPI_Comm_free(&comm);
}

static void create(enum operation operation, MPI_Comm comm, int number) {
    MPI_Comm made;
    MPI_Group all, some;
    int range[3] = {number % 2, size - 1, 1};
    switch (operation) {
    case DUP: MPI_Comm_dup(comm, &made); break;
    case SPLIT: MPI_Comm_split(comm, rank % 2, 0, &made); break;
    default:
        if (rank < range[0]) return;
        MPI_Comm_group(comm, &all);
        MPI_Group_range_incl(all, 1, &range, &some);
        MPI_Comm_create_group(comm, some, number % 3, &made);
        MPI_Group_free(&all);
        MPI_Group_free(&some);
    }
    use(made);
}

static void start(enum operation operation, MPI_Comm comm, int number) {
    struct started *it = &started[count];
    MPI_Request *request = &requests[count];
    *it = (struct started){operation, number, rank + number, -1, {0}, MPI_COMM_NULL};
    switch (operation) {
    case IDUP: duplicate(comm, 0, &it->made, request); break;
    case IDUP_WITH_INFO: duplicate(comm, 1, &it->made, request); break;
    case IBARRIER: MPI_Ibarrier(comm, request); break;
    case IALLREDUCE: MPI_Iallreduce(&it->in, &it->out, 1, MPI_INT, MPI_SUM, comm, request); break;
    case IBCAST:
        if (rank == number % size) it->out = number;
        MPI_Ibcast(&it->out, 1, MPI_INT, number % size, comm, request);
        break;
    case IGATHER: MPI_Igather(&it->in, 1, MPI_INT, it->all, 1, MPI_INT, number % size, comm, request); break;
    case ALLREDUCE: {
        int sum;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == size * (size - 1) / 2);
        return;
    }
    default: create(operation, comm, number); return;
    }
    count++;
}

static void finish(int way) {
    int flag, index, done, indices[MANY];
    switch (way) {
    case 0: MPI_Waitall(count, requests, MPI_STATUSES_IGNORE); break;
    case 1:
        for (int i = 0; i < count; i++) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        break;
    case 2:
        for (int i = count - 1; i >= 0; i--) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        break;
    case 3:
        do MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
        while (!flag);
        break;
    case 4:
        do MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
        while (index != MPI_UNDEFINED);
        break;
    case 5:
        do MPI_Waitsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
        while (done != MPI_UNDEFINED);
        break;
    default:
        for (int i = count - 1; i >= 0; i--)
            do MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
            while (!flag);
    }
}

static void check(const struct started *it) {
    switch (it->operation) {
    case IALLREDUCE: CHECK(it->out == size * (size - 1) / 2 + size * it->number); break;
    case IBCAST: CHECK(it->out == it->number); break;
    case IGATHER:
        for (int i = 0; i < size && rank == it->number % size; i++) CHECK(it->all[i] == i + it->number);
        break;
    case IDUP: case IDUP_WITH_INFO: use(it->made); break;
    default: break;
    }
}

static void order(int seed) {
    MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
    state = seed * 7919ULL + 13;
    for (int i = 0; i < 5; i++) draw(2);
    int two = draw(2);
    if (two) MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    int operations = 2 + draw(MANY - 2);
    for (int i = count = 0; i < operations; i++) {
        enum operation operation = draw(OPERATIONS);
        start(operation, comms[two ? draw(2) : 0], i);
        /* What follows is this rank's own choice. */
        unsigned long long common = state;
        state ^= rank * 99991ULL;
        draw(2);
        if (count && draw(4) == 0) MPI_Wait(&requests[draw(count)], MPI_STATUS_IGNORE);
        state = common;
    }
    finish(draw(7));
    for (int i = 0; i < count; i++) check(&started[i]);
    if (two) MPI_Comm_free(&comms[1]);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int first = atoi(argv[1]), many = atoi(argv[2]);
    for (int seed = first; seed < first + many; seed++) {
        if (argc > 3 && rank == 0) fprintf(stderr, "order %d\n", seed);
        order(seed);
    }
    MPI_Finalize();
    if (rank == 0) puts("done");
    return 0;
}
