/** The one type of the collective-communication interface that operator headers mention. */
#ifndef HCCL_HCCL_TYPES_H_
#define HCCL_HCCL_TYPES_H_

/** Communicator; there is no function here that makes one. */
typedef void *HcclComm;

#endif /* HCCL_HCCL_TYPES_H_ */
