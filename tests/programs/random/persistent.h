/* Persistent requests, that are started in several steps, and partitioned ones where the library has them. */

struct set {
    MPI_Comm comm;
    int requests;
    MPI_Request request[24];
    /* What each receives, under which key. */
    void *buffer[24];
    long note[24];
    uint64_t key;
    /* Of those that send: the bytes of each; -1 of those that do not. */
    long sends[24];
};
static _Thread_local struct set sets[SETS];

static void free_set(struct set *set) {
    for (int i = 0; i < set->requests; i++) MPI(Request_free, &set->request[i]);
    memset(set, 0, sizeof *set);
}

/* Completes what is left of the last start: MPI allows no second one before. */
static void rest(int which) {
    for (int i = 0; i < program.pendings; i++) {
        MPI_Status status;
        struct pending *pending = &program.pending[i];
        if (pending->set != which) continue;
        MPI(Wait, &pending->request, &status);
        completed(pending, &status);
    }
    sweep();
}

/* Whether the library can buffer a persistent send of `bytes`: Open MPI 4.1 uses the space of a message beyond the eager limit
 * again before it has sent all of it. */
static int can_buffer(long bytes) {
#ifdef OPEN_MPI
    return bytes <= 1024;
#else
    return 1;
#endif
}

static void make_set(struct comm *comm) {
    int which = draw(SETS), many = 1 + draw(8);
    struct set *set = &sets[which];
    rest(which);
    free_set(set);
    set->comm = comm->comm;
    for (int i = 0; i < many; i++) {
        struct message m = draw_message(comm, 16 + i, 1);
        int mode = draw(can_pack(m.send) ? 3 : 2), count = m.send_count;
        if (m.from == rank) {
            int at = set->requests++;
            void *data = filled((long)count * m.send->extent, m.key);
            MPI_Request *request = &set->request[at];
            set->sends[at] = (long)count * m.send->size;
            if (mode == 2 && !can_buffer(set->sends[at])) mode = 0;
            if (mode == 0) MPI(Send_init, data, count, m.send->type, destination(&m), m.tag, comm->comm, request);
            if (mode == 1) MPI(Ssend_init, data, count, m.send->type, destination(&m), m.tag, comm->comm, request);
            if (mode == 2) MPI(Bsend_init, data, count, m.send->type, destination(&m), m.tag, comm->comm, request);
        }
        if (m.to == rank) {
            int at = set->requests++, from = choose(4) == 0 && !plain ? MPI_ANY_SOURCE : source(&m);
            set->buffer[at] = filled(received_bytes(&m), 1);
            set->note[at] = received_bytes(&m), set->sends[at] = -1;
            MPI(Recv_init, set->buffer[at], m.recv_count, m.recv->type, from, m.tag, comm->comm, &set->request[at]);
        }
    }
}

static void start_set(void) {
    int which = draw(SETS), now = draw(2);
    struct set *set = &sets[which];
    rest(which);
    if (set->requests == 0) return;
    set->key = key_of(0);
    if (choose(2)) MPI(Startall, set->requests, set->request);
    else
        for (int i = 0; i < set->requests; i++) MPI(Start, &set->request[i]);
    for (int i = 0; i < set->requests; i++) {
        struct pending *pending = keep(set->request[i]);
        pending->set = which, pending->kind = set->sends[i] < 0 ? RECEIVED : SENT;
        pending->buffer = set->buffer[i], pending->note = set->note[i], pending->key = set->key;
        if (set->sends[i] >= 0) ADD(sent_messages, 1), ADD(sent_bytes, set->sends[i]);
    }
    if (now) rest(which);
}

/* Frees the sets of a communicator that is to be freed. */
static void free_sets(MPI_Comm comm) {
    for (int i = 0; i < SETS; i++)
        if (sets[i].requests > 0 && sets[i].comm == comm) {
            rest(i);
            free_set(&sets[i]);
        }
}

/* A message in parts, each ready when it pleases. */
static void partitioned(struct comm *comm) {
    struct message m = draw_message(comm, 0, 1);
    int parts = 1 + draw(5), each = draw(50), rounds = 1 + draw(3), way = draw(3), done, asked = 0;
    if (m.from == m.to) return;
#if MPI_VERSION >= 4
    MPI_Request request;
    MPI_Status status;
    int bytes = parts * each;
    char *data = rank == m.from || rank == m.to ? filled(bytes, rank == m.from ? m.key : 1) : NULL;
    if (rank == m.from) {
        MPI(Psend_init, data, parts, each, MPI_CHAR, destination(&m), m.tag, comm->comm, MPI_INFO_NULL, &request);
        for (int i = 0; i < rounds; i++) {
            MPI(Start, &request);
            ADD(sent_messages, 1), ADD(sent_bytes, bytes);
            if (way == 0) MPI(Pready_range, 0, parts - 1, request);
            else
                for (int part = 0; part < parts; part++) MPI(Pready, way == 1 ? part : parts - 1 - part, request);
            MPI(Wait, &request, &status);
        }
        MPI(Request_free, &request);
    } else if (rank == m.to) {
        MPI(Precv_init, data, parts, each, MPI_CHAR, source(&m), m.tag, comm->comm, MPI_INFO_NULL, &request);
        for (int i = 0; i < rounds; i++) {
            MPI(Start, &request);
            if (way == 2) while (MPI(Parrived, request, parts - 1, &done), !done) patience(&asked);
            MPI(Wait, &request, &status);
            note(m.key + i, data, bytes);
        }
        MPI(Request_free, &request);
    }
#endif
}
