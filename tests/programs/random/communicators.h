/* Communicators: made in every way from others, with attributes that are copied and deleted, and freed in any order. */

/* Room for one more, if it is made of `parent`; all ranks know its members. */
static struct comm *fresh(const struct comm *parent) {
    struct comm *comm = &program.comm[program.comms];
    *comm = (struct comm){.comm = MPI_COMM_NULL, .kind = PLAIN, .side = -1, .me = -1};
    return comm;
}

static void add_member(struct comm *comm, int side, int world) {
    if (world == rank) comm->side = side, comm->me = comm->count[side];
    comm->group[side][comm->count[side]++] = world;
}

static void same_members(struct comm *comm, const struct comm *parent) {
    for (int i = 0; i < parent->count[0]; i++) add_member(comm, 0, parent->group[0][i]);
}

/* Of this members of the parent, those for which `chosen` holds, in an order that `keys` give. */
static void members_by_key(struct comm *comm, const struct comm *parent, const int *colors, const int *keys, int color) {
    for (int key = 0; key < RANKS; key++)
        for (int i = 0; i < parent->count[0]; i++)
            if (colors[i] == color && keys[i] == key) add_member(comm, 0, parent->group[0][i]);
}

/* Some of the parent's ranks, in any order. */
static MPI_Group draw_group(struct comm *comm, const struct comm *parent) {
    MPI_Group all, some = MPI_GROUP_NULL;
    int ranks[RANKS], left[RANKS], many = 1 + draw(parent->count[0]);
    for (int i = 0; i < parent->count[0]; i++) left[i] = i;
    for (int i = 0; i < many; i++) {
        int at = i + draw(parent->count[0] - i);
        ranks[i] = left[at], left[at] = left[i];
        add_member(comm, 0, parent->group[0][ranks[i]]);
    }
    if (is_member(parent)) {
        MPI(Comm_group, parent->comm, &all);
        MPI(Group_incl, all, many, ranks, &some);
        MPI(Group_free, &all);
    }
    return some;
}

static void cartesian(struct comm *comm, const struct comm *parent) {
    int dims[2] = {1 + draw(3), 0}, periods[2] = {draw(2), draw(2)}, all = parent->count[0];
    if (dims[0] > all) dims[0] = 1;
    dims[1] = all / dims[0];
    comm->kind = CARTESIAN;
    for (int i = 0; i < dims[0] * dims[1]; i++) {
        int at[2] = {i / dims[1], i % dims[1]};
        add_member(comm, 0, parent->group[0][i]);
        for (int d = 0; d < 2; d++)
            for (int by = -1; by <= 1; by += 2) {
                int to = at[d] + by, inside = periods[d] || (to >= 0 && to < dims[d]);
                int other[2] = {at[0], at[1]};
                other[d] = (to + dims[d]) % dims[d];
                int neighbor = inside ? other[0] * dims[1] + other[1] : -1;
                comm->in[i][comm->ins[i]++] = comm->out[i][comm->outs[i]++] = neighbor;
            }
    }
    if (is_member(parent)) MPI(Cart_create, parent->comm, 2, dims, periods, 0, &comm->comm);
}

/* A graph whose edges are there both ways. */
static void graph(struct comm *comm, const struct comm *parent) {
    int all = parent->count[0], index[RANKS], edges[RANKS * RANKS], many = 0, is_edge[RANKS][RANKS] = {0};
    comm->kind = GRAPH;
    same_members(comm, parent);
    for (int i = 0; i < all; i++)
        for (int j = 0; j < i; j++) is_edge[i][j] = is_edge[j][i] = draw(2);
    for (int i = 0; i < all; i++) {
        for (int j = 0; j < all; j++)
            if (is_edge[i][j]) edges[many++] = comm->in[i][comm->ins[i]++] = comm->out[i][comm->outs[i]++] = j;
        index[i] = many;
    }
    if (is_member(parent)) MPI(Graph_create, parent->comm, all, index, edges, 0, &comm->comm);
}

/* A graph whose edges have directions. */
static void directed(struct comm *comm, const struct comm *parent) {
    int all = parent->count[0], general = draw(2), ones[RANKS];
    comm->kind = ADJACENT, comm->is_unordered = general;
    same_members(comm, parent);
    for (int i = 0; i < all; i++) ones[i] = 1;
    for (int i = 0; i < all; i++)
        for (int j = 0; j < all; j++)
            if (draw(3) == 0) comm->out[i][comm->outs[i]++] = j, comm->in[j][comm->ins[j]++] = i;
    if (!is_member(parent)) return;
    int me = comm->me, *in = comm->in[me], *out = comm->out[me];
    if (!general) {
        MPI(Dist_graph_create_adjacent, parent->comm, comm->ins[me], in, ones, comm->outs[me], out, ones, MPI_INFO_NULL, 0,
            &comm->comm);
        return;
    }
    MPI_Comm fresh = parent->comm;
#ifdef OPEN_MPI
    /* Open MPI 4.1 mixes up the messages of this function with those of the 24th and 25th non-blocking collective of the
     * communicator: they have the tags -50 and -51, too. */
    MPI(Comm_dup, parent->comm, &fresh);
#endif
    MPI(Dist_graph_create, fresh, 1, &me, &comm->outs[me], out, ones, MPI_INFO_NULL, 0, &comm->comm);
    if (fresh != parent->comm) MPI(Comm_free, &fresh);
    MPI(Dist_graph_neighbors, comm->comm, comm->ins[me], in, ones, comm->outs[me], out, ones);
}

/* Two halves of the parent, that talk to each other. */
static void inter(struct comm *comm, const struct comm *parent) {
    int all = parent->count[0], cut = 1 + draw(all > 1 ? all - 1 : 1), merge = draw(2), high = draw(2);
    MPI_Comm half, merged;
    if (all < 2) return;
    comm->kind = INTER;
    for (int i = 0; i < all; i++) add_member(comm, i >= cut, parent->group[0][i]);
    if (!is_member(parent)) return;
    MPI(Comm_split, parent->comm, comm->side, 0, &half);
    MPI(Intercomm_create, half, 0, parent->comm, comm->side ? 0 : cut, tag_of(1), &comm->comm);
    MPI(Comm_free, &half);
    if (merge) {
        int sum = 0, mine = rank;
        MPI(Intercomm_merge, comm->comm, comm->side == high, &merged);
        MPI(Allreduce, &mine, &sum, 1, MPI_INT, MPI_SUM, merged);
        note_number(key_of(0), sum);
        MPI(Comm_free, &merged);
    }
}

static void make_comm(struct comm *parent) {
    int which = draw(plain ? 6 : 12), colors[RANKS], keys[RANKS], done, asked = 0;
    if (program.comms == COMMS) return;
    struct comm *comm = fresh(parent);
    for (int i = 0; i < parent->count[0]; i++) colors[i] = draw(3), keys[i] = draw(4);
    int mine = parent->me;
    MPI_Group group;
    MPI_Request request;
    switch (which) {
        case 0:
            same_members(comm, parent);
            if (mine >= 0) MPI(Comm_dup, parent->comm, &comm->comm);
            break;
        case 1:
            same_members(comm, parent);
            if (mine >= 0) MPI(Comm_dup_with_info, parent->comm, MPI_INFO_NULL, &comm->comm);
            break;
        case 2:
            same_members(comm, parent);
            if (mine < 0) break;
            MPI(Comm_idup, parent->comm, &comm->comm, &request);
            if (choose(2)) compute(choose(50));
            if (choose(2)) MPI(Wait, &request, MPI_STATUS_IGNORE);
            else while (MPI(Test, &request, &done, MPI_STATUS_IGNORE), !done) patience(&asked);
            break;
        case 3:
        case 4:
            /* Those of colour 0 are no members. */
            members_by_key(comm, parent, colors, keys, 1);
            if (mine >= 0) MPI(Comm_split, parent->comm, colors[mine] == 1 ? 1 : MPI_UNDEFINED, keys[mine], &comm->comm);
            break;
        case 5:
            members_by_key(comm, parent, (int[RANKS]){0}, keys, 0);
            if (mine >= 0) MPI(Comm_split_type, parent->comm, MPI_COMM_TYPE_SHARED, keys[mine], MPI_INFO_NULL, &comm->comm);
            break;
        case 6:
            group = draw_group(comm, parent);
            if (mine >= 0) MPI(Comm_create, parent->comm, group, &comm->comm), MPI(Group_free, &group);
            break;
        case 7:
            group = draw_group(comm, parent);
            if (is_member(comm)) MPI(Comm_create_group, parent->comm, group, tag_of(2), &comm->comm);
            if (mine >= 0) MPI(Group_free, &group);
            break;
        case 8: cartesian(comm, parent); break;
        case 9: graph(comm, parent); break;
        case 10: directed(comm, parent); break;
        default: inter(comm, parent);
    }
    if (comm->count[0] > 0) program.comms++;
}

/* The first one is there from beginning to end. */
static void free_comm(int at) {
    struct comm *comm = &program.comm[at];
    if (is_member(comm)) {
        free_sets(comm->comm);
        complete_collectives(comm->comm);
        MPI(Comm_free, &comm->comm);
    }
    *comm = program.comm[--program.comms];
}

/* Attributes whose callbacks are called when a communicator is duplicated or freed. */
static _Thread_local int copied, deleted;

static int copy_attribute(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag) {
    int members;
    in_callback = 1;
    MPI(Comm_size, comm, &members);
    in_callback = 0;
    *(void **)copy = (char *)value + members;
    *flag = 1;
    copied++;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int keyval, void *value, void *extra) {
    int members, mine = 1, theirs = 0;
    deleted++;
    in_callback = 1;
    MPI(Comm_size, comm, &members);
    if (extra != NULL) {
        /* All members free the communicator, so that all are here. */
        MPI(Allreduce, &mine, &theirs, 1, MPI_INT, MPI_SUM, *(MPI_Comm *)extra);
        note_number(key_of(7), theirs);
    }
    in_callback = 0;
    return MPI_SUCCESS;
}

static void attributes(struct comm *comm) {
    int keyval, flag, communicates = draw(2);
    void *value;
    MPI_Comm copy, again;
    if (!is_member(comm)) return;
    MPI(Comm_create_keyval, copy_attribute, delete_attribute, &keyval, communicates ? &comm->comm : NULL);
    MPI(Comm_dup, comm->comm, &copy);
    MPI(Comm_set_attr, copy, keyval, (void *)8);
    MPI(Comm_dup, copy, &again);
    MPI(Comm_get_attr, again, keyval, &value, &flag);
    note_number(key_of(0), flag ? (long)value : -1);
    MPI(Comm_delete_attr, again, keyval);
    MPI(Comm_free, &again);
    MPI(Comm_free, &copy);
    MPI(Comm_free_keyval, &keyval);
    note_number(key_of(1), copied * 1000 + deleted);
}
