/* One-sided communication: each way to make a window and to synchronise, with accesses whose result is the same in any order. */

enum { WORDS = 64 };

struct window {
    MPI_Win win;
    uint32_t *memory;
    struct comm *comm;
};

/* Each rank writes words of its own at its target, or combines words in a way that commutes. */
static void access_target(const struct window *window, int target, int atomic, int requests) {
    int all = window->comm->count[0], each = WORDS / all, me = window->comm->me, way = choose(3);
    uint32_t *data = filled(each * 4, key_of(rank + 1)), *old = room(WORDS * 4);
    /* The library may use these until the access is completed, long after this function has returned. */
    uint32_t *one = room(4), *before = room(4);
    MPI_Request request;
    *one = 1;
    if (atomic) {
        /* The second half of the window, after the words that are put. */
        if (way == 0) MPI(Accumulate, data, each, MPI_INT, target, WORDS, each, MPI_INT, MPI_SUM, window->win);
        if (way == 1) MPI(Get_accumulate, data, each, MPI_INT, old, each, MPI_INT, target, WORDS, each, MPI_INT, MPI_SUM, window->win);
        if (way == 2) MPI(Fetch_and_op, one, before, MPI_INT, target, WORDS + 3, MPI_SUM, window->win);
        return;
    }
    if (requests) {
        MPI(Rput, data, each, MPI_INT, target, me * each, each, MPI_INT, window->win, &request);
        MPI(Wait, &request, MPI_STATUS_IGNORE);
    } else {
        MPI(Put, data, each, MPI_INT, target, me * each, each, MPI_INT, window->win);
    }
}

/* Gets what the target itself has put nowhere: its third part, which does not change. */
static uint32_t *get_constant(const struct window *window, int target, int requests) {
    uint32_t *got = room(8 * 4);
    MPI_Request request;
    if (requests) {
        MPI(Rget, got, 8, MPI_INT, target, 2 * WORDS, 8, MPI_INT, window->win, &request);
        MPI(Wait, &request, MPI_STATUS_IGNORE);
    } else {
        MPI(Get, got, 8, MPI_INT, target, 2 * WORDS, 8, MPI_INT, window->win);
    }
    return got;
}

static void with_fences(const struct window *window, int rounds, int by) {
    int all = window->comm->count[0];
    for (int i = 0; i < rounds; i++) {
        int target = (window->comm->me + by + i) % all;
        MPI(Win_fence, i == 0 ? MPI_MODE_NOPRECEDE : 0, window->win);
        access_target(window, target, 0, 0);
        access_target(window, target, 1, 0);
        uint32_t *got = get_constant(window, target, 0);
        MPI(Win_fence, i == rounds - 1 ? MPI_MODE_NOSUCCEED : 0, window->win);
        note(key_of(50 + i), got, 32);
    }
}

static void with_locks(const struct window *window, int rounds, int by, int to_all) {
    int all = window->comm->count[0];
    if (to_all) MPI(Win_lock_all, 0, window->win);
    for (int i = 0; i < rounds; i++) {
        int target = (window->comm->me + by + i) % all, requests = choose(2);
        if (!to_all) MPI(Win_lock, choose(2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, window->win);
        access_target(window, target, 0, requests);
        access_target(window, target, 1, 0);
        uint32_t *got = get_constant(window, target, requests);
        if (!to_all) {
            MPI(Win_unlock, target, window->win);
        } else {
            switch (choose(3)) {
                case 0: MPI(Win_flush, target, window->win); break;
                case 1: MPI(Win_flush_all, window->win); break;
                default: MPI(Win_flush_local, target, window->win), MPI(Win_flush, target, window->win);
            }
        }
        note(key_of(50 + i), got, 32);
    }
    if (to_all) MPI(Win_unlock_all, window->win);
}

/* Each rank posts to the one before, and starts with the one after. */
static void with_posts(const struct window *window, int rounds, int by) {
    int all = window->comm->count[0], to = (window->comm->me + by) % all, from = (window->comm->me - by % all + all) % all;
    MPI_Group group, targets, origins;
    int flag, asked = 0;
    MPI(Win_get_group, window->win, &group);
    MPI(Group_incl, group, 1, &to, &targets);
    MPI(Group_incl, group, 1, &from, &origins);
    for (int i = 0; i < rounds; i++) {
        MPI(Win_post, origins, 0, window->win);
        MPI(Win_start, targets, 0, window->win);
        access_target(window, to, 0, 0);
        access_target(window, to, 1, 0);
        MPI(Win_complete, window->win);
        if (choose(2)) while (MPI(Win_test, window->win, &flag), !flag) patience(&asked);
        else MPI(Win_wait, window->win);
    }
    MPI(Group_free, &group);
    MPI(Group_free, &targets);
    MPI(Group_free, &origins);
}

/* Open MPI 4.1 makes no window where several threads call MPI, or has them in memory that only one host shares. */
static int has_windows(void) {
#ifdef OPEN_MPI
    return threads == 1;
#else
    return 1;
#endif
}

static void one_sided(struct comm *comm) {
    int made = draw(3), way = draw(4), rounds = 1 + draw(4), by = draw(comm->count[0]);
    struct window window = {.comm = comm};
    MPI_Aint bytes = 3 * WORDS * 4;
    if (!is_member(comm)) return;
    if (made == 0) MPI(Win_allocate, bytes, 4, MPI_INFO_NULL, comm->comm, &window.memory, &window.win);
    if (made == 1) {
        window.memory = room(bytes);
        MPI(Win_create, window.memory, bytes, 4, MPI_INFO_NULL, comm->comm, &window.win);
    }
    if (made == 2) MPI(Win_allocate_shared, bytes, 4, MPI_INFO_NULL, comm->comm, &window.memory, &window.win);
    uint32_t *initial = filled(bytes, key_of(100 + rank));
    MPI(Win_lock, MPI_LOCK_EXCLUSIVE, comm->me, 0, window.win);
    memcpy(window.memory, initial, bytes);
    MPI(Win_unlock, comm->me, window.win);
    MPI(Barrier, comm->comm);
    switch (way) {
        case 0: with_fences(&window, rounds, by); break;
        case 1: with_locks(&window, rounds, by, 0); break;
        case 2: with_locks(&window, rounds, by, 1); break;
        default: with_posts(&window, rounds, by);
    }
    MPI(Barrier, comm->comm);
    MPI(Win_lock, MPI_LOCK_SHARED, comm->me, 0, window.win);
    note(key_of(1), window.memory, bytes);
    MPI(Win_unlock, comm->me, window.win);
    MPI(Barrier, comm->comm);
    MPI(Win_free, &window.win);
}
