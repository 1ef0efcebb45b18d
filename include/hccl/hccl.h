/**
 * Collective communication, libhccl.so: its settings. A CPU has no collectives, so there is nothing
 * else, and nothing that the settings would change.
 */
#ifndef HCCL_HCCL_H_
#define HCCL_HCCL_H_

#include "acl/acl_base.h"
#include "hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Sets a setting of the process, kept for HcclGetConfig().
 * @param config HCCL_DETERMINISTIC
 * @param configValue 0 not wanted, 1 and 2 wanted
 * @return 0; HCCL_E_PARA (1) for another setting or value
 */
ACL_FUNC_VISIBILITY HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue);

/**
 * Reads a setting of the process.
 * @param config HCCL_DETERMINISTIC
 * @param configValue [out] value of HcclSetConfig(), else 0
 * @return 0; HCCL_E_PARA (1) for another setting; HCCL_E_PTR (2) for NULL
 */
ACL_FUNC_VISIBILITY HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue *configValue);

#ifdef __cplusplus
}
#endif

#endif /* HCCL_HCCL_H_ */
