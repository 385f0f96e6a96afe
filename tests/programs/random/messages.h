/* Messages: every way to send, to receive and to look first, from known and unknown senders.
 *
 * All ranks take the same steps in the same order, so that no wait for what a step has begun can deadlock. Messages with tags below
 * `FIRST_TAG` are told apart by their order alone; a tag from there on belongs to one message of one step. */
enum { FIRST_TAG = 8, TAGS = 64 };

static int tag_of(int index) { return FIRST_TAG + (program.step * TAGS + index) % (LARGEST_TAG - FIRST_TAG); }

struct message {
    struct comm *comm;
    int from, to, tag, send_count, recv_count;
    struct type *send, *recv;
    uint64_t key;
};

/* A message between two members, or from one group of an inter-communicator to the other. */
static struct message draw_message(struct comm *comm, int index, int distinct) {
    struct message message = {.comm = comm, .key = key_of(index)};
    int side = comm->kind == INTER ? draw(2) : 0, other = comm->kind == INTER ? 1 - side : 0;
    message.from = comm->group[side][draw(comm->count[side])];
    message.to = comm->group[other][draw(comm->count[other])];
    message.tag = distinct || draw(2) ? tag_of(index) : draw(FIRST_TAG);
    message.send = message.recv = draw_type();
    message.send_count = message.recv_count = draw_count();
    /* The same elements, laid out otherwise on the other side. */
    if (message.send == &types[SPARSE] && draw(2)) message.recv = &types[INT], message.recv_count *= 3;
    if (message.send == &types[RESIZED] && draw(2)) message.recv = &types[INT];
    /* The receiver has room for more now and then. */
    if (draw(4) == 0) message.recv_count += draw(20);
    return message;
}

static long received_bytes(const struct message *message) { return (long)message->recv_count * message->recv->extent; }

static void count_sent(int count, const struct type *type) {
    ADD(sent_messages, 1);
    ADD(sent_bytes, (long)count * type->size);
}

/* Whether the library can send such elements from where it packs them: of a structure of two types, MPICH 4.0 then says that the
 * message is longer than it is. */
static int can_pack(const struct type *type) {
#ifdef OPEN_MPI
    return 1;
#else
    return type != &types[MIXED];
#endif
}

/* The rank of the other side. */
static int destination(const struct message *m) {
    return rank_in(m->comm, m->to, m->comm->kind == INTER ? 1 - m->comm->side : 0);
}

static int source(const struct message *m) {
    return rank_in(m->comm, m->from, m->comm->kind == INTER ? 1 - m->comm->side : 0);
}

/* Sends; the receive is posted already if the message is `expected`. */
static void send_message(const struct message *m, int mode, int expected) {
    int to = destination(m), count = m->send_count, tag = m->tag;
    void *data = filled((long)count * m->send->extent, m->key);
    MPI_Datatype type = m->send->type, own = MPI_DATATYPE_NULL;
    MPI_Comm comm = m->comm->comm;
    MPI_Request request;
    if ((mode == 2 || mode == 6) && !can_pack(m->send)) mode = 4;
    count_sent(count, m->send);
    if (choose(6) == 0) {
        MPI(Type_dup, type, &own);
        type = own;
    }
    switch (mode) {
        case 0: MPI(Send, data, count, type, to, tag, comm); break;
        case 1: MPI(Ssend, data, count, type, to, tag, comm); break;
        case 2: MPI(Bsend, data, count, type, to, tag, comm); break;
        case 3:
            if (expected) MPI(Rsend, data, count, type, to, tag, comm);
            else MPI(Send, data, count, type, to, tag, comm);
            break;
        case 4: MPI(Isend, data, count, type, to, tag, comm, &request); break;
        case 5: MPI(Issend, data, count, type, to, tag, comm, &request); break;
        case 6: MPI(Ibsend, data, count, type, to, tag, comm, &request); break;
        default:
            if (expected) MPI(Irsend, data, count, type, to, tag, comm, &request);
            else MPI(Isend, data, count, type, to, tag, comm, &request);
    }
    if (mode >= 4) keep_sent(request);
    if (own != MPI_DATATYPE_NULL) MPI(Type_free, &own);
}

static void note_received(const struct message *m, void *data, MPI_Status *status) {
    int bytes;
    MPI(Get_count, status, MPI_BYTE, &bytes);
    note_number(m->key, status->MPI_SOURCE * 100000L + status->MPI_TAG + bytes * 10000000000L);
    note(m->key, data, received_bytes(m));
}

/* Receives in one of several ways; only the first leaves the message for later. */
static void receive_message(const struct message *m, int how, int wild) {
    int from = wild == 1 ? MPI_ANY_SOURCE : source(m), tag = wild == 2 ? MPI_ANY_TAG : m->tag, found, asked = 0;
    void *data = filled(received_bytes(m), 1);
    MPI_Comm comm = m->comm->comm;
    MPI_Datatype type = m->recv->type;
    MPI_Request request;
    MPI_Message matched;
    MPI_Status status;
    switch (how) {
        case 0:
            MPI(Irecv, data, m->recv_count, type, from, tag, comm, &request);
            keep_received(request, data, received_bytes(m), m->key);
            return;
        case 1: MPI(Recv, data, m->recv_count, type, from, tag, comm, &status); break;
        case 2:
            MPI(Probe, from, tag, comm, &status);
            MPI(Recv, data, m->recv_count, type, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
            break;
        case 3:
            while (MPI(Iprobe, from, tag, comm, &found, &status), !found) patience(&asked);
            MPI(Recv, data, m->recv_count, type, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
            break;
        case 4:
            ADD(found_messages, 1);
            MPI(Mprobe, from, tag, comm, &matched, &status);
            MPI(Mrecv, data, m->recv_count, type, &matched, &status);
            break;
        case 5:
            ADD(found_messages, 1);
            while (MPI(Improbe, from, tag, comm, &found, &matched, &status), !found) patience(&asked);
            MPI(Mrecv, data, m->recv_count, type, &matched, &status);
            break;
        default:
            ADD(found_messages, 1);
            MPI(Mprobe, from, tag, comm, &matched, &status);
            MPI(Imrecv, data, m->recv_count, type, &matched, &request);
            keep_received(request, data, received_bytes(m), m->key);
            return;
    }
    note_received(m, data, &status);
}

/* One message. A ready send waits until it knows that its receive is posted. */
static void one_message(struct comm *comm) {
    int wild = draw(4), mode = draw(8), how = draw(7), ready = mode == 3 || mode == 7;
    struct message m = draw_message(comm, 0, wild == 1);
    int posted = ready || m.from == m.to, go;
    if (rank == m.to && posted) receive_message(&m, 0, wild);
    if (ready && m.from != m.to) {
        if (rank == m.to) {
            count_sent(0, &types[INT]);
            MPI(Send, NULL, 0, MPI_INT, source(&m), tag_of(1), comm->comm);
        } else if (rank == m.from) {
            MPI(Recv, &go, 0, MPI_INT, destination(&m), tag_of(1), comm->comm, MPI_STATUS_IGNORE);
        }
    }
    if (rank == m.from) send_message(&m, mode, 1);
    if (rank == m.to && !posted) receive_message(&m, how, wild);
}

/* Several messages at once, in any order. */
static void exchange(struct comm *comm) {
    enum { MOST = 10 };
    struct message messages[MOST];
    int many = 1 + draw(MOST), order[2 * MOST], ends = 0, now = draw(2), before = program.pendings;
    for (int i = 0; i < many; i++) {
        messages[i] = draw_message(comm, i, 1);
        if (messages[i].from == rank) order[ends++] = 2 * i;
        if (messages[i].to == rank) order[ends++] = 2 * i + 1;
    }
    for (int i = 0; i < ends; i++) {
        int other = i + choose(ends - i), end = order[other];
        struct message *m = &messages[end / 2];
        order[other] = order[i];
        if (end % 2) receive_message(m, 0, choose(4) == 0);
        else send_message(m, 4 + choose(3), 0);
    }
    if (now) complete(before, program.pendings - before);
}

/* Everybody sends to one rank, which receives from whoever comes first. With `open` no tag is asked for either, and a barrier keeps
 * messages of later steps away. */
static void fan_in(struct comm *comm) {
    int to = draw(comm->count[0]), each = 1 + draw(3), open = draw(3) == 0, how = draw(4), mode = draw(3), bytes = draw_count();
    int tag = open ? MPI_ANY_TAG : tag_of(0), before = program.pendings, others = comm->count[0] - 1;
    if (comm->me == to) {
        for (int i = 0; i < each * others; i++) {
            struct message m = {.comm = comm, .recv = &types[CHAR], .recv_count = bytes};
            char *data = filled(bytes, 1);
            MPI_Status status;
            MPI_Request request;
            MPI_Message matched;
            switch (how) {
                case 0: MPI(Recv, data, bytes, MPI_CHAR, MPI_ANY_SOURCE, tag, comm->comm, &status); break;
                case 1:
                    MPI(Probe, MPI_ANY_SOURCE, tag, comm->comm, &status);
                    MPI(Recv, data, bytes, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, comm->comm, &status);
                    break;
                case 2:
                    ADD(found_messages, 1);
                    MPI(Mprobe, MPI_ANY_SOURCE, tag, comm->comm, &matched, &status);
                    MPI(Mrecv, data, bytes, MPI_CHAR, &matched, &status);
                    break;
                default:
                    MPI(Irecv, data, bytes, MPI_CHAR, MPI_ANY_SOURCE, tag, comm->comm, &request);
                    keep_received(request, data, bytes, key_of(1));
                    if (program.pendings > PENDING - 4) complete(before, program.pendings - before);
                    continue;
            }
            m.key = key_of(1);
            note_received(&m, data, &status);
        }
        if (open) complete(before, program.pendings - before);
    } else if (is_member(comm)) {
        for (int i = 0; i < each; i++) {
            int sent_tag = open ? choose(100) : tag;
            char *data = filled(bytes, key_of(200 + rank * 8 + i));
            count_sent(bytes, &types[CHAR]);
            if (mode == 0) MPI(Send, data, bytes, MPI_CHAR, to, sent_tag, comm->comm);
            else if (mode == 1) MPI(Ssend, data, bytes, MPI_CHAR, to, sent_tag, comm->comm);
            else MPI(Bsend, data, bytes, MPI_CHAR, to, sent_tag, comm->comm);
        }
    }
    if (open && is_member(comm)) MPI(Barrier, comm->comm);
}

/* A shift along the ranks, in a ring or from nobody to nobody at its ends. */
static void shift(struct comm *comm) {
    int by = 1 + draw(comm->count[0]), ring = draw(2), replace = draw(2), count = draw_count(), all = comm->count[0];
    struct type *type = draw_type();
    int to = comm->me + by, from = comm->me - by;
    if (!is_member(comm)) return;
    replace = replace && can_pack(type);
    to = ring ? to % all : to < all ? to : MPI_PROC_NULL;
    from = ring ? (from + 2 * all) % all : from >= 0 ? from : MPI_PROC_NULL;
    void *data = filled((long)count * type->extent, key_of(rank)), *other = filled((long)count * type->extent, 1);
    MPI_Status status;
    if (to != MPI_PROC_NULL) count_sent(count, type);
    if (replace) {
        MPI(Sendrecv_replace, data, count, type->type, to, tag_of(0), from, tag_of(0), comm->comm, &status);
        other = data;
    } else {
        int any = choose(3) == 0 && from != MPI_PROC_NULL ? MPI_ANY_SOURCE : from;
        MPI(Sendrecv, data, count, type->type, to, tag_of(0), other, count, type->type, any, tag_of(0), comm->comm, &status);
    }
    note(key_of(99), other, (long)count * type->extent);
    note_number(key_of(98), status.MPI_SOURCE);
}

/* Calls that move nothing: no peer, or a receive that is cancelled. */
static void nobody(struct comm *comm) {
    int which = draw(5), data = 0, cancelled, flag;
    MPI_Request request;
    MPI_Status status;
    if (!is_member(comm)) return;
    switch (which) {
        case 0: MPI(Send, &data, 1, MPI_INT, MPI_PROC_NULL, 0, comm->comm); break;
        case 1: MPI(Recv, &data, 1, MPI_INT, MPI_PROC_NULL, 0, comm->comm, &status); break;
        case 2:
            MPI(Isend, &data, 1, MPI_INT, MPI_PROC_NULL, 0, comm->comm, &request);
            MPI(Wait, &request, &status);
            break;
        case 3:
            MPI(Iprobe, MPI_PROC_NULL, 0, comm->comm, &flag, &status);
            note_number(key_of(0), flag);
            break;
        default:
            MPI(Irecv, &data, 1, MPI_INT, choose(2) ? MPI_ANY_SOURCE : 0, LARGEST_TAG, comm->comm, &request);
            MPI(Cancel, &request);
            MPI(Wait, &request, &status);
            MPI(Test_cancelled, &status, &cancelled);
            note_number(key_of(0), cancelled);
    }
}
