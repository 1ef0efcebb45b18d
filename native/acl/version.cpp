// Versions of the interface and of the packages of the release that is emulated.
#include <strings.h>

#include <cstring>

#include "acl/acl.h"
#include "acl/refuse.hpp"

namespace pyaclnn {
namespace {

// The release that is emulated.
constexpr char kRelease[] = "8.5.0";
// Its packages; those of operators are apart in newer releases.
constexpr const char *kPackages[] = {
    "CANN",     "runtime", "compiler",        "hccl",   "toolkit",   "opp", "opp_kernel", "driver",
    "ops_math", "ops_nn",  "ops_transformer", "ops_cv", "ops_legacy"};

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion) {
  const char *function = "aclrtGetVersion";
  if (majorVersion == nullptr) return refuse_null(function, "majorVersion");
  if (minorVersion == nullptr) return refuse_null(function, "minorVersion");
  if (patchVersion == nullptr) return refuse_null(function, "patchVersion");
  *majorVersion = ACL_MAJOR_VERSION;
  *minorVersion = ACL_MINOR_VERSION;
  *patchVersion = ACL_PATCH_VERSION;
  return ACL_SUCCESS;
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version) {
  const char *function = "aclsysGetCANNVersion";
  if (version == nullptr) return refuse_null(function, "version");
  if (static_cast<uint32_t>(name) > ACL_PKG_NAME_DRIVER) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "name", static_cast<uint32_t>(name),
                        "an aclCANNPackageName, 0 .. 7");
  }
  *version = aclCANNPackageVersion();
  std::strcpy(version->version, kRelease);
  version->majorVersion[0] = kRelease[0];
  version->minorVersion[0] = kRelease[2];
  version->releaseVersion[0] = kRelease[4];
  return ACL_SUCCESS;
}

aclError aclsysGetVersionStr(char *pkgName, char *versionStr) {
  const char *function = "aclsysGetVersionStr";
  if (pkgName == nullptr) return refuse_null(function, "pkgName");
  if (versionStr == nullptr) return refuse_null(function, "versionStr");
  for (const char *known : kPackages) {
    if (strcasecmp(pkgName, known) != 0) continue;
    std::strcpy(versionStr, kRelease);
    return ACL_SUCCESS;
  }
  Text text;
  text << function << ": pkgName: is \"" << pkgName << "\", accepted: ";
  const char *comma = "";
  for (const char *known : kPackages) {
    text << comma << known;
    comma = ", ";
  }
  return fail(ACL_ERROR_INVALID_PARAM, "EH0007", text);
}
