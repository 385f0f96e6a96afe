/* The part of the standard ABI (MPI 5.0 chapter 20 and appendix A.1) that titr's table has, and a few functions to write
   a program with; the functions that MPI 4.1 and 5.0 added, which no library of Debian 12 declares; and those that later
   libraries add to it. */
#ifndef TITR_STANDARD_ABI
#define TITR_STANDARD_ABI

#include <stdint.h>

#define MPI_VERSION 5
#define MPI_SUBVERSION 0
#define MPI_ABI_VERSION 1
#define MPI_ABI_SUBVERSION 0

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

/* A.1.1: handles point to objects that nobody defines. */
typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Message *MPI_Message;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Session *MPI_Session;

#define MPI_OP_NULL ((MPI_Op)0x20)
#define MPI_MIN ((MPI_Op)0x22)
#define MPI_MAX ((MPI_Op)0x23)
#define MPI_BAND ((MPI_Op)0x28)
#define MPI_COMM_NULL ((MPI_Comm)0x100)
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_COMM_SELF ((MPI_Comm)0x102)
#define MPI_GROUP_NULL ((MPI_Group)0x108)
#define MPI_GROUP_EMPTY ((MPI_Group)0x109)
#define MPI_MESSAGE_NULL ((MPI_Message)0x128)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)0x129)
#define MPI_INFO_NULL ((MPI_Info)0x130)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)0x141)
#define MPI_REQUEST_NULL ((MPI_Request)0x180)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0x200)
#define MPI_INT ((MPI_Datatype)0x209)
#define MPI_BYTE ((MPI_Datatype)0x247)
#define MPI_INT64_T ((MPI_Datatype)0x258)

typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5];
} MPI_Status;

#define MPI_BOTTOM ((void *)0)
#define MPI_IN_PLACE ((void *)1)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_MAX_LIBRARY_VERSION_STRING 8192

enum {
    MPI_SUCCESS = 0,
    MPI_ANY_SOURCE = -1,
    MPI_ANY_TAG = -2,
    MPI_PROC_NULL = -3,
    MPI_ROOT = -4,
    MPI_UNDEFINED = -32766,
    MPI_THREAD_MULTIPLE = 4096,
    MPI_ERR_TRUNCATE = 15,
    MPI_TAG_UB = 501,
    MPI_CART = 211,
    MPI_GRAPH = 212,
    MPI_DIST_GRAPH = 213,
    MPI_LOCK_SHARED = 302,
    MPI_MODE_NOCHECK = 1024,
    MPI_MODE_NOPRECEDE = 2048,
    MPI_MODE_NOPUT = 4096,
    MPI_MODE_NOSTORE = 8192,
    MPI_MODE_NOSUCCEED = 16384
};

int MPI_Abi_get_version(int *abi_major, int *abi_minor);
int MPI_Get_library_version(char *version, int *resultlen);
int MPI_Get_version(int *version, int *subversion);
int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/* New in MPI 4.1. */
int MPI_Buffer_flush(void);
int MPI_Buffer_iflush(MPI_Request *request);
int MPI_Comm_attach_buffer(MPI_Comm comm, void *buffer, int size);
int MPI_Comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size);
int MPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size);
int MPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size);
int MPI_Comm_flush_buffer(MPI_Comm comm);
int MPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request);
int MPI_Get_hw_resource_info(MPI_Info *hw_info);
int MPI_Remove_error_class(int errorclass);
int MPI_Remove_error_code(int errorcode);
int MPI_Remove_error_string(int errorcode);
int MPI_Request_get_status_all(int count, const MPI_Request requests[], int *flag, MPI_Status *statuses);
int MPI_Request_get_status_any(int count, const MPI_Request requests[], int *index, int *flag, MPI_Status *status);
int MPI_Request_get_status_some(int incount, const MPI_Request requests[], int *outcount, int indices[],
                                MPI_Status *statuses);
int MPI_Session_attach_buffer(MPI_Session session, void *buffer, int size);
int MPI_Session_attach_buffer_c(MPI_Session session, void *buffer, MPI_Count size);
int MPI_Session_detach_buffer(MPI_Session session, void *buffer_addr, int *size);
int MPI_Session_detach_buffer_c(MPI_Session session, void *buffer_addr, MPI_Count *size);
int MPI_Session_flush_buffer(MPI_Session session);
int MPI_Session_iflush_buffer(MPI_Session session, MPI_Request *request);
int MPI_Status_get_error(const MPI_Status *status, int *error);
int MPI_Status_get_source(const MPI_Status *status, int *source);
int MPI_Status_get_tag(const MPI_Status *status, int *tag);
int MPI_Status_set_error(MPI_Status *status, int error);
int MPI_Status_set_source(MPI_Status *status, int source);
int MPI_Status_set_tag(MPI_Status *status, int tag);
int MPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type);

/* New in MPI 5.0. */
int MPI_Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false, int *is_set);
int MPI_Abi_get_fortran_info(MPI_Info *info);
int MPI_Abi_get_info(MPI_Info *info);
int MPI_Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false);
int MPI_Abi_set_fortran_info(MPI_Info info);
int MPI_Precv_init_c(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                     MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Psend_init_c(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Status_set_elements_c(MPI_Status *status, MPI_Datatype datatype, MPI_Count count);

/* What MPICH 5.0 and Open MPI 5.0 add to MPI; their own types are words. */
int MPIX_Allreduce_enqueue(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int MPIX_Allreduce_enqueue_c(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
void *MPIX_Async_get_state(void *);
int MPIX_Async_spawn(void *, void *, void *, intptr_t);
int MPIX_Async_start(void *, void *, intptr_t);
int MPIX_Comm_ack_failed(MPI_Comm, int, int *);
int MPIX_Comm_create_errhandler_x(void *, void *, void *, void *);
int MPIX_Comm_get_failed(MPI_Comm, MPI_Group *);
int MPIX_Comm_get_stream(MPI_Comm, int, void *);
int MPIX_Comm_iagree(MPI_Comm, int *, MPI_Request *);
int MPIX_Comm_is_revoked(MPI_Comm, int *);
int MPIX_Comm_test_threadcomm(MPI_Comm, int *);
int MPIX_File_create_errhandler_x(void *, void *, void *, void *);
int MPIX_Info_set_hex(MPI_Info, const char *, const void *, int);
int MPIX_Irecv_enqueue(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPIX_Irecv_enqueue_c(void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPIX_Isend_enqueue(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPIX_Isend_enqueue_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPIX_Op_create_x(void *, void *, int, void *, MPI_Op *);
int MPIX_Query_rocm_support(void);
int MPIX_Recv_enqueue(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
int MPIX_Recv_enqueue_c(void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
int MPIX_Request_is_complete(MPI_Request);
int MPIX_Send_enqueue(const void *, int, MPI_Datatype, int, int, MPI_Comm);
int MPIX_Send_enqueue_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
int MPIX_Session_create_errhandler_x(void *, void *, void *, void *);
int MPIX_Start_progress_thread(intptr_t);
int MPIX_Stop_progress_thread(intptr_t);
int MPIX_Stream_comm_create(MPI_Comm, intptr_t, MPI_Comm *);
int MPIX_Stream_comm_create_multiplex(MPI_Comm, int, void *, MPI_Comm *);
int MPIX_Stream_create(MPI_Info, void *);
int MPIX_Stream_free(void *);
int MPIX_Stream_irecv(void *, int, MPI_Datatype, int, int, MPI_Comm, int, int, MPI_Request *);
int MPIX_Stream_irecv_c(void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, int, int, MPI_Request *);
int MPIX_Stream_isend(const void *, int, MPI_Datatype, int, int, MPI_Comm, int, int, MPI_Request *);
int MPIX_Stream_isend_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, int, int, MPI_Request *);
int MPIX_Stream_progress(intptr_t);
int MPIX_Stream_recv(void *, int, MPI_Datatype, int, int, MPI_Comm, int, int, MPI_Status *);
int MPIX_Stream_recv_c(void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, int, int, MPI_Status *);
int MPIX_Stream_send(const void *, int, MPI_Datatype, int, int, MPI_Comm, int, int);
int MPIX_Stream_send_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, int, int);
int MPIX_Threadcomm_finish(MPI_Comm);
int MPIX_Threadcomm_free(MPI_Comm *);
int MPIX_Threadcomm_init(MPI_Comm, int, MPI_Comm *);
int MPIX_Threadcomm_start(MPI_Comm);
int MPIX_Type_iov(MPI_Datatype, MPI_Count, void *, MPI_Count, MPI_Count *);
int MPIX_Type_iov_len(MPI_Datatype, MPI_Count, MPI_Count *, MPI_Count *);
int MPIX_Wait_enqueue(MPI_Request *, MPI_Status *);
int MPIX_Waitall_enqueue(int, MPI_Request *, MPI_Status *);
int MPIX_Win_create_errhandler_x(void *, void *, void *, void *);
int MPI_Session_set_info(MPI_Session, MPI_Info);

#endif
