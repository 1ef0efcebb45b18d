/** Visibility of the operator functions. */
#ifndef ACLNNOP_ACLNN_UTIL_H_
#define ACLNNOP_ACLNN_UTIL_H_

#if defined(__GNUC__) && !defined(PYACLNN_CDEF)
#define ACLNN_API __attribute__((visibility("default")))
#else
#define ACLNN_API
#endif

#endif /* ACLNNOP_ACLNN_UTIL_H_ */
