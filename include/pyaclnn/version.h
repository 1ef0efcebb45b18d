/* pyaclnn's own version. CANN's answers (aclrtGetVersion, aclsysGetCANNVersion) are separate. */
#ifndef PYACLNN_VERSION_H_
#define PYACLNN_VERSION_H_

#define PYACLNN_VERSION_MAJOR 0
#define PYACLNN_VERSION_MINOR 1
#define PYACLNN_VERSION_PATCH 0
#define PYACLNN_VERSION "0.1.0"

#endif /* PYACLNN_VERSION_H_ */
