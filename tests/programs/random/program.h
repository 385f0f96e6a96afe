/* What every part of a random program needs: numbers that follow from the seed, its communicators, memory, the sum of all that
 * was received, and counts of what was called. */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

enum { RANKS = 16, COMMS = 12, PENDING = 64, SETS = 4, LARGEST_TAG = 32767 };

static int rank, size, threads = 1, verbose;
/* Whether the programs have only what `titr-reenact` repeats. */
static int plain;

/* The calls of a function, by its name. Found once for each place that calls it. Calls that callbacks make, while MPI itself is
 * called, are counted apart. */
struct tally {
    const char *name;
    long calls, within;
};
static _Thread_local int in_callback;
static struct tally tallies[512];
static long sent_messages, sent_bytes;
/* Messages that a matched probe has found, of them those before whose receive another one came. */
static long found_messages, posted_messages;

static struct tally *tally_of(const char *name) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct tally *found = tallies;
    pthread_mutex_lock(&lock);
    while (found->name != NULL && strcmp(found->name, name) != 0) found++;
    found->name = name;
    pthread_mutex_unlock(&lock);
    return found;
}

#define ADD(number, more) __atomic_fetch_add(&(number), more, __ATOMIC_RELAXED)

/* Calls a function of MPI, and counts the call. */
#define MPI(function, ...)                                             \
    ({                                                                 \
        static struct tally *tally;                                    \
        if (tally == NULL) tally = tally_of("MPI_" #function);         \
        ADD(*(in_callback ? &tally->within : &tally->calls), 1);       \
        MPI_##function(__VA_ARGS__);                                   \
    })

/* A communicator that this rank knows of, whether it is a member or not. */
struct comm {
    MPI_Comm comm;
    enum { PLAIN, CARTESIAN, GRAPH, ADJACENT, INTER } kind;
    /* The ranks of the world, in the order of the communicator; the second group is an inter-communicator's other one. */
    int group[2][RANKS], count[2];
    /* The group that this rank is in and its rank there; -1 if in none. */
    int side, me;
    /* Neighbours, in and out, of every member of a topology. */
    int in[RANKS][2 * RANKS], ins[RANKS], out[RANKS][2 * RANKS], outs[RANKS];
    /* Whether the neighbours are in an order of the library's own, which may be another one in the next run. */
    int is_unordered;
};

/* Parts of what is received, each of so many bytes and with a name, which may come in any order; one part if there are no names. */
struct parts {
    long each;
    const int *names;
};

/* A request that is not completed, and what to note once it is. */
struct pending {
    MPI_Request request;
    /* The communicator of a collective. */
    MPI_Comm comm;
    /* What is received: `note` bytes at `buffer`, under this key; the status of a message counts too. */
    void *buffer;
    long note;
    uint64_t key;
    struct parts parts;
    enum { SENT, RECEIVED, COLLECTIVE, SPECIAL } kind;
    /* The persistent set that the request belongs to, which goes inactive; -1 if none. */
    int set;
};

/* A random program as one thread of one rank sees it. */
struct program {
    uint64_t seed, shared, own, sum;
    int thread, step, comms, pendings;
    struct comm comm[COMMS];
    struct pending pending[PENDING];
    void **rooms;
    int room_count, room_space;
};

static _Thread_local struct program program;

static uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static uint64_t next(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15;
    return mixed(*state);
}

/* A number below `most`, the same on all ranks: all ranks draw all such numbers, whether they take part or not. */
static int draw(int most) { return next(&program.shared) % most; }

/* A number below `most` of this rank's own. It is the same in every run up to where the step completes requests. */
static int choose(int most) { return next(&program.own) % most; }

static uint64_t key_of(int what) {
    return mixed(program.seed * 1000003 + program.thread * 65537 + program.step * 257 + what);
}

/* Memory until the end of the program. */
static void *room(long bytes) {
    if (program.room_count == program.room_space) {
        program.room_space = 2 * program.room_space + 16;
        program.rooms = realloc(program.rooms, program.room_space * sizeof *program.rooms);
    }
    return program.rooms[program.room_count++] = calloc(1, bytes + 64);
}

/* Memory with contents that follow from `key`. */
static void *filled(long bytes, uint64_t key) {
    unsigned char *area = room(bytes);
    for (long i = 0; i < bytes; i++) area[i] = mixed(key + i / 8) >> i % 8 * 8;
    return area;
}

/* Adds what was received to the sum, in no order. */
static void note(uint64_t key, const void *data, long bytes) {
    uint64_t hash = key;
    for (long i = 0; i < bytes; i++) hash = (hash ^ ((const unsigned char *)data)[i]) * 1099511628211u;
    program.sum += mixed(hash);
}

static void note_parts(uint64_t key, const char *data, long bytes, struct parts parts) {
    if (parts.names == NULL) note(key, data, bytes);
    else
        for (int i = 0; i < bytes / parts.each; i++) note(key + 1000 * parts.names[i], data + i * parts.each, parts.each);
}

static void note_number(uint64_t key, long number) { note(key, &number, sizeof number); }

static void note_error(uint64_t key, int code) {
    int class;
    MPI(Error_class, code, &class);
    note_number(key, class);
}

#define CHECK(condition)                                                                                              \
    do {                                                                                                              \
        if (!(condition)) {                                                                                           \
            fprintf(stderr, "seed %ld thread %d step %d rank %d: %s:%d: %s\n", (long)program.seed, program.thread,   \
                    program.step, rank, __FILE__, __LINE__, #condition);                                              \
            MPI_Abort(MPI_COMM_WORLD, 99);                                                                            \
        }                                                                                                             \
    } while (0)

/* Lets others have the core now and then, where a loop asks again and again. */
static void patience(int *asked) {
    if (++*asked % 16 == 0) usleep(*asked > 2000 ? 1000 : 50);
    else sched_yield();
}

static void compute(int work) {
    volatile double x = 1;
    for (int i = 0; i < work * 100; i++) x = x * 1.0000001 + 1e-9;
}

/* A datatype: the bytes of an element, and how far elements are apart. */
struct type {
    MPI_Datatype type;
    int size, extent;
};
enum { INT, CHAR, DOUBLE, SPARSE, MIXED, RESIZED, SHORTS, TYPES };
static struct type types[TYPES];

static void make_types(void) {
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE}, made[4];
    MPI(Type_vector, 3, 1, 2, MPI_INT, &made[0]);
    MPI(Type_create_struct, 2, lengths, places, parts, &made[1]);
    MPI(Type_create_resized, MPI_INT, 0, 12, &made[2]);
    MPI(Type_contiguous, 3, MPI_SHORT, &made[3]);
    for (int i = 0; i < 4; i++) MPI(Type_commit, &made[i]);
    types[INT] = (struct type){MPI_INT, 4, 4};
    types[CHAR] = (struct type){MPI_CHAR, 1, 1};
    types[DOUBLE] = (struct type){MPI_DOUBLE, 8, 8};
    types[SPARSE] = (struct type){made[0], 12, 20};
    types[MIXED] = (struct type){made[1], 12, 16};
    types[RESIZED] = (struct type){made[2], 4, 12};
    types[SHORTS] = (struct type){made[3], 6, 6};
}

static void free_types(void) {
    for (int i = SPARSE; i < TYPES; i++) MPI(Type_free, &types[i].type);
}

/* How many elements: none now and then, mostly few, sometimes more than a library sends unasked. */
static int draw_count(void) {
    switch (draw(12)) {
        case 0: return 0;
        case 1: return 1;
        case 2: return 1000 + draw(3000);
        case 3: return draw(8) == 0 ? 20000 + draw(5000) : 300;
        default: return 1 + draw(60);
    }
}

static struct type *draw_type(void) { return &types[draw(TYPES)]; }

/* A communicator of this kind or, where `kind` is negative, any that is not an inter-communicator. */
static struct comm *draw_comm(int kind) {
    int first = draw(program.comms);
    for (int i = 0; i < program.comms; i++) {
        struct comm *comm = &program.comm[(first + i) % program.comms];
        if (kind < 0 ? comm->kind != INTER : (int)comm->kind == kind) return comm;
    }
    return NULL;
}

static int is_member(const struct comm *comm) { return comm->side >= 0; }

/* How to write down a rank of the world on this communicator, seen from the other side of an inter-communicator. */
static int rank_in(const struct comm *comm, int world, int side) {
    for (int i = 0; i < comm->count[side]; i++)
        if (comm->group[side][i] == world) return i;
    return MPI_PROC_NULL;
}
