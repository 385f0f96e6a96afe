/* titr's network models for simulators in C: docs/NETWORK-LIBRARY.md. Generated from the library's source. */

#ifndef TITRNETWORK_H
#define TITRNETWORK_H

#include <stdbool.h>
#include <stdint.h>

// The time at which nothing happens.
#define TITR_NETWORK_NEVER UINT64_MAX

// A network with its messages, for the thread that created it. All times are in picoseconds since its creation. Where a
// function fails, `titr_network_error` says why.
typedef struct titr_network titr_network;

// A message that has arrived.
typedef struct titr_delivery {
  // The name that `titr_network_inject` was given for it.
  uint64_t label;
  // When it arrived, in picoseconds.
  uint64_t time;
  // Its payload, in bytes.
  uint64_t bytes;
  // The node that it left.
  uint32_t source;
  // The node that it has arrived at.
  uint32_t destination;
} titr_delivery;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Creates the idle network that a platform file describes, at time 0. Returns NULL on failure.
//
// # Safety
// `platform` is NULL or a string that ends with a NUL character.
struct titr_network *titr_network_create(const char *platform);

// Returns how many nodes the network connects; they have the numbers from 0. Returns 0 on failure.
//
// # Safety
// `network` is NULL or comes from `titr_network_create` and was not destroyed.
uint32_t titr_network_nodes(struct titr_network *network);

// Injects a message at a time that is not before the one that the network was advanced to. Messages of one time enter the
// network in the order of the calls. The label is the caller's and need not be unique. Fails for a message that could not
// arrive in 2^64 picoseconds, or that the packet model would cut into billions of packets. Returns whether it succeeded.
//
// # Safety
// `network` is NULL or comes from `titr_network_create` and was not destroyed.
bool titr_network_inject(struct titr_network *network,
                         uint32_t source,
                         uint32_t destination,
                         uint64_t bytes,
                         uint64_t time,
                         uint64_t label);

// Returns the time at which something next happens in the network, `TITR_NETWORK_NEVER` if no message is under way or on
// failure. A caller with nothing to do before that time may advance the network to it; not every event is an arrival.
//
// # Safety
// `network` is NULL or comes from `titr_network_create` and was not destroyed.
uint64_t titr_network_next_event(struct titr_network *network);

// Advances the network to a time before `TITR_NETWORK_NEVER`, with all that happens until then and at that time. Returns
// whether it succeeded.
//
// # Safety
// `network` is NULL or comes from `titr_network_create` and was not destroyed.
bool titr_network_advance(struct titr_network *network,
                          uint64_t time);

// Takes the next message that has arrived by the time that the network was advanced to, in the order of arrival. Returns
// whether there was one; if not, `delivery` is left as it is.
//
// # Safety
// `network` is NULL or comes from `titr_network_create` and was not destroyed; `delivery` is NULL or points to a delivery that
// may be written.
bool titr_network_take(struct titr_network *network,
                       struct titr_delivery *delivery);

// Destroys a network, with all messages in it. NULL is ignored.
//
// # Safety
// `network` is NULL or comes from `titr_network_create`, was not destroyed, and is not used again.
void titr_network_destroy(struct titr_network *network);

// Returns why the last function that failed on this thread did so: a text that is valid until the next one fails on this
// thread, and empty if none has failed.
const char *titr_network_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TITRNETWORK_H */
