/** Types of the hooks for a caller's own device-memory allocator. */
#ifndef ACL_ACL_RT_ALLOCATOR_H_
#define ACL_ACL_RT_ALLOCATOR_H_

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Description of an allocator: its object and its hooks. */
typedef void *aclrtAllocatorDesc;
/** The caller's allocator object. */
typedef void *aclrtAllocator;
/** A block handed out by an allocator. */
typedef void *aclrtAllocatorBlock;
/** Address that a block should preferably have. */
typedef void *aclrtAllocatorAddr;

/** Allocates size bytes; returns a block or NULL. */
typedef void *(*aclrtAllocatorAllocFunc)(aclrtAllocator allocator, size_t size);
/** Gives a block back. */
typedef void (*aclrtAllocatorFreeFunc)(aclrtAllocator allocator, aclrtAllocatorBlock block);
/** Allocates size bytes, if possible at addr; returns a block or NULL. */
typedef void *(*aclrtAllocatorAllocAdviseFunc)(aclrtAllocator allocator, size_t size,
                                               aclrtAllocatorAddr addr);
/** Gives the device address of a block. */
typedef void *(*aclrtAllocatorGetAddrFromBlockFunc)(aclrtAllocatorBlock block);

#ifdef __cplusplus
}
#endif

#endif /* ACL_ACL_RT_ALLOCATOR_H_ */
