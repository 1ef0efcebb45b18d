/** All of ATB's interface for inference, except the C functions of atb_acl.h. */
#ifndef ATB_ATB_INFER_H_
#define ATB_ATB_INFER_H_

#include "atb/context.h"
#include "atb/infer_op_params.h"
#include "atb/operation.h"
#include "atb/svector.h"
#include "atb/types.h"
#include "atb/utils.h"

#endif  // ATB_ATB_INFER_H_
