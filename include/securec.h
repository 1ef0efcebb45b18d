/**
 * Present because programs for CANN include it; none of the covered ones uses a function of it.
 */
#ifndef SECUREC_H_
#define SECUREC_H_
#endif /* SECUREC_H_ */
