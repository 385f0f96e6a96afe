/* What happens on a rank beside messages: errors that return, regions, generalised requests, questions. */

static _Thread_local int handled;

static void handle(MPI_Comm *comm, int *code, ...) { handled++; }

static int receive_truncated(int how, void *data, int count, int from, MPI_Comm comm) {
    MPI_Request request;
    MPI_Message found;
    switch (how) {
        case 5: return MPI(Recv, data, count, MPI_INT, from, 3, comm, MPI_STATUS_IGNORE);
        case 6: MPI(Irecv, data, count, MPI_INT, from, 3, comm, &request); return MPI(Wait, &request, MPI_STATUS_IGNORE);
        case 7:
            ADD(found_messages, 1);
            MPI(Mprobe, from, 3, comm, &found, MPI_STATUS_IGNORE);
            return MPI(Mrecv, data, count, MPI_INT, &found, MPI_STATUS_IGNORE);
        default:
            return MPI(Sendrecv, NULL, 0, MPI_INT, MPI_PROC_NULL, 3, data, count, MPI_INT, from, 3, comm, MPI_STATUS_IGNORE);
    }
}

/* Arguments that MPI refuses, and a message that is longer than its receive. */
static void errors(struct comm *comm) {
    int which = draw(9), with_handler = draw(2), from = draw(comm->count[0]), to = draw(comm->count[0]), count = 2 + draw_count();
    int data = 0, code = 0, all = comm->count[0];
    MPI_Comm own;
    MPI_Errhandler handler;
    if (!is_member(comm)) return;
    MPI(Comm_dup, comm->comm, &own);
    if (with_handler) {
        MPI(Comm_create_errhandler, handle, &handler);
        MPI(Comm_set_errhandler, own, handler);
        MPI(Errhandler_free, &handler);
    } else {
        MPI(Comm_set_errhandler, own, MPI_ERRORS_RETURN);
    }
    switch (which) {
        case 0: code = MPI(Send, &data, 1, MPI_INT, all + 3, 0, own); break;
        case 1: code = MPI(Recv, &data, -1, MPI_INT, 0, 0, own, MPI_STATUS_IGNORE); break;
        case 2: code = MPI(Send, &data, 1, MPI_INT, 0, -5, own); break;
        case 3: code = MPI(Bcast, &data, 1, MPI_INT, all + 1, own); break;
        case 4: code = MPI(Isend, &data, 1, MPI_DATATYPE_NULL, 0, 0, own, &(MPI_Request){0}); break;
        default:
            if (from == to) break;
            if (comm->me == from) {
                count_sent(count, &types[INT]);
                MPI(Send, filled(count * 4, 1), count, MPI_INT, to, 3, own);
            }
            if (comm->me == to) {
                /* MPICH gives the error of a request and of a matched receive to the handler of the world. */
                if (which == 6 || which == 7) MPI(Comm_set_errhandler, MPI_COMM_WORLD, MPI_ERRORS_RETURN);
                code = receive_truncated(which, room(count * 4), count - 1, from, own);
            }
    }
    note_error(key_of(0), code);
    note_number(key_of(1), handled);
    MPI(Comm_free, &own);
}

/* Of one rank, so that it may be about anything. */
static void regions(void) {
    int level = 1 + choose(4);
    MPI(Pcontrol, level);
    compute(choose(30));
    MPI(Pcontrol, -level);
}

/* Waits until all buffered messages have left. */
static void detach(void) {
    void *buffer;
    int bytes;
    if (threads > 1 || choose(2)) return;
    MPI(Buffer_detach, &buffer, &bytes);
    MPI(Buffer_attach, buffer, bytes);
}

static int query(void *extra, MPI_Status *status) {
    in_callback = 1;
    MPI(Status_set_elements, status, MPI_INT, 3);
    MPI(Status_set_cancelled, status, 0);
    in_callback = 0;
    return MPI_SUCCESS;
}
static int free_nothing(void *extra) { return MPI_SUCCESS; }
static int cancel_nothing(void *extra, int complete) { return MPI_SUCCESS; }

static void generalised(void) {
    MPI_Request request;
    MPI_Status status;
    int count;
    MPI(Grequest_start, query, free_nothing, cancel_nothing, NULL, &request);
    MPI(Grequest_complete, request);
    MPI(Wait, &request, &status);
    MPI(Get_count, &status, MPI_INT, &count);
    note_number(key_of(0), count);
}

/* Questions that MPI answers without asking others. */
static void questions(struct comm *comm) {
    int members, me, length, result;
    char name[MPI_MAX_OBJECT_NAME];
    if (!is_member(comm)) return;
    MPI(Comm_size, comm->comm, &members);
    MPI(Comm_rank, comm->comm, &me);
    MPI(Comm_get_name, comm->comm, name, &length);
    MPI(Comm_compare, comm->comm, MPI_COMM_WORLD, &result);
    CHECK(me == comm->me && (comm->kind == INTER || members == comm->count[0]));
    note_number(key_of(0), members * 100 + me + 10000L * result);
    MPI(Wtime);
}
