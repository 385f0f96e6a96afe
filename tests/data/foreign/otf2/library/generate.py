# Two ranks: instructions, an inter-communicator, non-blocking collectives, one-sided communication, a cancelled receive.
import sys
import otf2
from otf2.enums import *
from otf2 import definitions as defs
# The library's own class asks for a group as well.
class InterComm(defs._NamedRefDefinition):
    _ref_name = "comm"
    _fields = (("groupA", defs.no_default, defs.Group), ("groupB", defs.no_default, defs.Group), ("parent", None, defs.Comm), ("flags", CommFlag.NONE))
import otf2.definition_writer as dw
defs.InterComm = dw.InterComm = InterComm
path = sys.argv[1]
with otf2.writer.open(path, timer_resolution=1000000000) as trace:
    d = trace.definitions
    node = d.system_tree_node("node7", class_name="node")
    groups = [d.location_group(f"P{i}", system_tree_parent=node) for i in range(2)]
    writers = [trace.event_writer(f"main{i}", group=groups[i]) for i in range(2)]
    locs = [w._location for w in writers]
    locations = d.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=locs)
    all_ = d.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=locs)
    ga = d.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=[locs[0]])
    gb = d.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=[locs[1]])
    gself = d.group("", group_type=GroupType.COMM_SELF, paradigm=Paradigm.MPI, members=[])
    world = d.comm("MPI_COMM_WORLD", group=all_)
    self_ = d.comm("MPI_COMM_SELF", group=gself)
    dup = d.comm("", group=all_, parent=world, flags=CommFlag.CREATE_DESTROY_EVENTS)
    inter = d.inter_comm("", groupA=ga, groupB=gb, parent=world, flags=CommFlag.NONE)
    win = d.rma_win("", comm=world, flags=RmaWinFlag.CREATE_DESTROY_EVENTS)
    mem = d.metric_member("PAPI_TOT_INS", "instructions", metric_type=MetricType.PAPI, metric_mode=MetricMode.ACCUMULATED_START, value_type=Type.INT64, unit="#")
    mem2 = d.metric_member("PAPI_TOT_CYC", "cycles", metric_type=MetricType.PAPI, metric_mode=MetricMode.ACCUMULATED_START, value_type=Type.INT64, unit="#")
    cls = d.metric_class(members=(mem2, mem), occurrence=MetricOccurrence.SYNCHRONOUS_STRICT)
    regions = {}
    def region(name):
        if name not in regions:
            p = Paradigm.MPI if name.startswith("MPI_") else Paradigm.USER
            regions[name] = d.region(name, paradigm=p, region_role=RegionRole.FUNCTION)
        return regions[name]
    clock = [1000, 1000]
    count = [0, 0]
    def tick(r, n=100):
        clock[r] += n
        count[r] += 10 * n
        return clock[r]
    class Call:
        def __init__(s, r, name): s.r, s.name = r, name
        def __enter__(s):
            t = tick(s.r)
            writers[s.r].metric(t, cls, (7, count[s.r]))
            writers[s.r].enter(t, region(s.name))
            return writers[s.r]
        def __exit__(s, *a):
            t = tick(s.r, 50)
            writers[s.r].metric(t, cls, (7, count[s.r]))
            writers[s.r].leave(t, region(s.name))
    for r in (0, 1):
        w = writers[r]
        o = 1 - r
        w.program_begin(tick(r), "a.out", [])
        with Call(r, "main"):
            with Call(r, "MPI_Init"): pass
            with Call(r, "MPI_Comm_dup"):
                w.comm_create(tick(r, 1), dup)
            with Call(r, "MPI_Iallreduce"):
                w.non_blocking_collective_request(tick(r, 1), 77)
            with Call(r, "MPI_Wait"):
                w.non_blocking_collective_complete(tick(r, 1), CollectiveOp.ALLREDUCE, dup, CollectiveRoot.NONE, 16, 16, 77)
            with Call(r, "MPI_Win_create"):
                w.rma_collective_begin(tick(r, 1))
                w.rma_win_create(tick(r, 1), win)
                w.rma_collective_end(tick(r, 1), CollectiveOp.CREATE_HANDLE, RmaSyncLevel.PROCESS, win, CollectiveRoot.NONE, 0, 0)
            with Call(r, "MPI_Win_fence"):
                w.rma_collective_begin(tick(r, 1))
                w.rma_collective_end(tick(r, 1), CollectiveOp.BARRIER, RmaSyncLevel.PROCESS, win, CollectiveRoot.NONE, 0, 0)
            with Call(r, "solve"):
                with Call(r, "MPI_Put"):
                    w.rma_put(tick(r, 1), win, o, 4096, 5)
                    w.rma_op_complete_non_blocking(tick(r, 1), win, 5)
                with Call(r, "MPI_Win_fence"):
                    w.rma_collective_begin(tick(r, 1))
                    w.rma_collective_end(tick(r, 1), CollectiveOp.BARRIER, RmaSyncLevel.PROCESS, win, CollectiveRoot.NONE, 0, 0)
            with Call(r, "MPI_Win_lock"):
                w.rma_acquire_lock(tick(r, 1), win, o, 0, LockType.SHARED)
            with Call(r, "MPI_Get"):
                w.rma_get(tick(r, 1), win, o, 64, 6)
            with Call(r, "MPI_Accumulate"):
                w.rma_atomic(tick(r, 1), win, o, RmaAtomicType.ACCUMULATE, 32, 0, 7)
            with Call(r, "MPI_Win_unlock"):
                w.rma_release_lock(tick(r, 1), win, o, 0)
            with Call(r, "MPI_Win_free"):
                w.rma_win_destroy(tick(r, 1), win)
            # peers in an inter-communicator are ranks of the other group
            with Call(r, "MPI_Sendrecv"):
                w.mpi_send(tick(r, 1), 0, inter, 4, 100)
                w.mpi_recv(tick(r, 1), 0, inter, 4, 100)
            with Call(r, "MPI_Bcast"):
                w.mpi_collective_begin(tick(r, 1))
                w.mpi_collective_end(tick(r, 1), CollectiveOp.BCAST, inter, CollectiveRoot.SELF if r == 0 else 0, 8 if r == 0 else 0, 0 if r == 0 else 8)
            with Call(r, "MPI_Irecv"):
                w.mpi_irecv_request(tick(r, 1), 90)
            with Call(r, "MPI_Cancel"): pass
            with Call(r, "MPI_Wait"):
                w.mpi_request_cancelled(tick(r, 1), 90)
            with Call(r, "MPI_Isend"):
                w.mpi_isend(tick(r, 1), 0, self_, 1, 12, 91)
            with Call(r, "MPI_Recv"):
                w.mpi_recv(tick(r, 1), 0, self_, 1, 12)
            with Call(r, "MPI_Test"):
                w.mpi_request_test(tick(r, 1), 91)
            with Call(r, "MPI_Test"):
                w.mpi_isend_complete(tick(r, 1), 91)
            with Call(r, "MPI_Finalize"): pass
        w.program_end(tick(r), 0)
