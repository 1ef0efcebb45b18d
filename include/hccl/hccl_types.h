/** Types of the collective-communication interface, as far as there is anything to use them for. */
#ifndef HCCL_HCCL_TYPES_H_
#define HCCL_HCCL_TYPES_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Communicator; there is no function here that makes one. */
typedef void *HcclComm;

/** Results of this interface; those that are missing here are unused. */
typedef enum HcclResult { HCCL_SUCCESS = 0, HCCL_E_PARA = 1, HCCL_E_PTR = 2 } HcclResult;

/** Settings of the process. */
typedef enum HcclConfig { HCCL_DETERMINISTIC = 0, HCCL_CONFIG_RESERVED = 1 } HcclConfig;

/** Value of a setting. */
typedef union HcclConfigValue {
  int32_t value;
} HcclConfigValue;

#ifdef __cplusplus
}
#endif

#endif /* HCCL_HCCL_TYPES_H_ */
