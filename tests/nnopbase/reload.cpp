// The libraries may be closed and opened again while threads that used them live on: plug-in hosts
// do that. Nothing is linked; everything is looked up by name.
#include <dlfcn.h>

#include <atomic>
#include <thread>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "pyaclnn/debug.h"
#include "tap.hpp"

using tap::ok;

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  for (int round = 0; round < 3; ++round) {
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    ok(library != nullptr, "opened", "%s", library != nullptr ? "" : dlerror());
    if (library == nullptr) break;
    auto find = [&]<class Function>(Function *, const char *name) {
      return reinterpret_cast<Function *>(dlsym(library, name));
    };
#define FIND(name) auto *name##_ = find(static_cast<decltype(::name) *>(nullptr), #name)
    FIND(aclCreateTensor);
    FIND(aclDestroyTensor);
    FIND(aclrtSetDevice);
    FIND(aclrtMemsetAsync);
    FIND(aclrtSynchronizeStream);
    FIND(aclrtResetDevice);
    FIND(aclGetRecentErrMsg);
    FIND(pyaclnnRulesJson);
#undef FIND
    // This thread outlives the library: what the library keeps for it must not be called into
    // later.
    std::atomic<bool> used{false}, closed{false};
    bool right = false;
    std::thread user([&] {
      int64_t dim = 1;
      aclTensor *t =
          aclCreateTensor_(&dim, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &dim, 1, nullptr);
      aclDestroyTensor_(t);
      right = aclDestroyTensor_(t) == 161002 && aclGetRecentErrMsg_() != nullptr;
      used.store(true);
      while (!closed.load()) std::this_thread::yield();
    });
    while (!used.load()) std::this_thread::yield();
    ok(right, "used on a thread");
    unsigned char bytes[16] = {};
    bool ran = aclrtSetDevice_(0) == 0 && aclrtMemsetAsync_(bytes, 16, 7, 16, nullptr) == 0 &&
               aclrtSynchronizeStream_(nullptr) == 0 && bytes[15] == 7;
    ok(ran, "a stream ran");
    aclrtResetDevice_(0);
    // libopapi only: walks the operators, which must not be those of a library that is gone.
    if (pyaclnnRulesJson_ != nullptr) {
      ok(pyaclnnRulesJson_("aclnnNoSuchOperator", nullptr, 0) == 0, "the registry ends");
    }
    ok(dlclose(library) == 0, "closed");
    closed.store(true);
    user.join();
    ok(true, "a thread that used it has ended");
  }
  return tap::done();
}
