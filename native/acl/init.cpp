// aclInit and aclFinalize with the configuration file.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>

#include "acl/acl.h"
#include "acl/device_state.hpp"
#include "acl/init_state.hpp"
#include "acl/json.hpp"
#include "acl/refuse.hpp"
#include "acl/stream_state.hpp"
#include "pyaclnn/debug.h"
#include "support/log.hpp"
#include "support/record_state.hpp"
#define PYACLNN_BUILD_GUARD_OWNER
#include "acl/build_guard.hpp"

namespace pyaclnn {
namespace {

struct State {
  std::mutex mutex;
  bool initialised = false;
  bool finalised = false;
  bool configured = false;  // some aclInit has succeeded; `settings` holds its file
  uint64_t references = 0;
  std::string settings;
};

State &state() {
  static State *const once = new State();
  return *once;
}

struct Settings {
  bool per_process = false;
  int32_t default_device = -1;
};

int32_t refuse_type(const char *key, const char *accepted) {
  return fail(ACL_ERROR_INTERNAL_ERROR, "EH9999",
              Text() << "aclInit: configPath: key " << key
                     << " has the wrong JSON type, accepted: " << accepted);
}

int32_t read_file(const char *path, std::string *content) {
  std::FILE *file = std::fopen(path, "rbe");
  bool good = file != nullptr;
  if (good) {
    char piece[4096];
    size_t n = 0;
    while ((n = std::fread(piece, 1, sizeof piece, file)) != 0) content->append(piece, n);
    good = std::ferror(file) == 0;  // a folder opens but cannot be read
    std::fclose(file);
  }
  if (good) return 0;
  return fail(ACL_ERROR_INVALID_FILE, "EH0009",
              Text() << "aclInit: configPath: \"" << path
                     << "\" cannot be read: " << std::string_view(std::strerror(errno))
                     << ", a readable JSON file or NULL is "
                     << "accepted");
}

// A whole number, written as a JSON number or as a string: both occur in configurations.
bool whole_number(const Json &value, long *number) {
  if (value.type != Json::Type::Number && value.type != Json::Type::String) return false;
  char *end = nullptr;
  *number = std::strtol(value.text.c_str(), &end, 10);
  return end != value.text.c_str() && *end == '\0';
}

int32_t read_settings(const std::string &content, Settings *settings) {
  Json root;
  const char *why = nullptr;
  size_t where = 0;
  if (!json_read(content, &root, &why, &where)) {
    return fail(
        ACL_ERROR_PARSE_FILE, "EH0009",
        Text() << "aclInit: configPath: is not valid JSON: " << why << " at byte " << where);
  }
  if (root.type != Json::Type::Object) {
    return fail(ACL_ERROR_PARSE_FILE, "EH0009",
                Text() << "aclInit: configPath: holds no JSON object, {...} is required");
  }
  if (const Json *mode = root.find("err_msg_mode"); mode != nullptr) {
    if (mode->type != Json::Type::String) {
      return refuse_type("err_msg_mode", "a string, \"0\" or \"1\"");
    }
    if (mode->text != "0" && mode->text != "1") {
      return fail(ACL_ERROR_INVALID_PARAM, "EH0007",
                  Text() << "aclInit: configPath: err_msg_mode: is \""
                         << std::string_view(mode->text)
                         << "\", accepted: \"0\" (per thread), \"1\" (per process)");
    }
    settings->per_process = mode->text == "1";
  }
  if (const Json *device = root.find("defaultDevice"); device != nullptr) {
    if (device->type != Json::Type::Object) return refuse_type("defaultDevice", "an object");
    if (const Json *id = device->find("default_device"); id != nullptr) {
      long number = 0;
      if (!whole_number(*id, &number)) {
        return refuse_type("defaultDevice.default_device", "a whole number, or a string of one");
      }
      if (number < 0) {
        return refuse_value(ACL_ERROR_INVALID_PARAM, "aclInit",
                            "configPath: defaultDevice.default_device", number,
                            "a device below aclrtGetDeviceCount");
      }
      if (number >= device_count()) {
        return fail(ACL_ERROR_RT_INVALID_DEVICEID, "EE1001",
                    Text() << "aclInit: configPath: defaultDevice.default_device: is " << number
                           << ", accepted: 0 .. " << device_count() - 1);
      }
      settings->default_device = static_cast<int32_t>(number);
    }
  }
  for (const char *key : {"dump", "profiler", "StackSize"}) {
    const Json *value = root.find(key);
    if (value == nullptr) continue;
    if (value->type != Json::Type::Object) return refuse_type(key, "an object");
    log(LogLevel::Warning,
        Text() << "aclInit: configPath: key " << key << " has no effect on a CPU");
  }
  if (const Json *queue = root.find("max_opqueue_num"); queue != nullptr) {
    long number = 0;
    if (!whole_number(*queue, &number)) {
      return refuse_type("max_opqueue_num", "a whole number, or a string of one");
    }
  }
  return 0;
}

// What makes every operator unusable is said at the very start.
int32_t check_environment() {
  if (build_mixture()) {
    return fail(
        ACL_ERROR_INTERNAL_ERROR, "EH9999",
        Text() << "aclInit: libraries of different builds were loaded together; the build of "
                  "libascendcl is "
               << build_id());
  }
  if (const char *error = pyaclnnEnvironmentError(); error != nullptr) {
    return fail(ACL_ERROR_INTERNAL_ERROR, "EH9999", Text() << "aclInit: " << error);
  }
  return 0;
}

int32_t init(const char *configPath) {
  State &s = state();
  std::lock_guard lock(s.mutex);
  if (s.initialised) {
    ++s.references;
    return fail(ACL_ERROR_REPEAT_INITIALIZE, "EH0009",
                Text() << "aclInit: was called before, one call until aclFinalize is accepted");
  }
  if (int32_t code = check_environment(); code != 0) return code;
  std::string content;
  Settings settings;
  if (configPath != nullptr && *configPath != '\0') {
    if (int32_t code = read_file(configPath, &content); code != 0) return code;
    if (int32_t code = read_settings(content, &settings); code != 0) return code;
  }
  if (s.configured && s.settings != content) {
    return fail(
        ACL_ERROR_INVALID_PARAM, "EH0009",
        Text() << "aclInit: configPath: differs from the first aclInit of this process, the "
                  "same configuration is required");
  }
  s.settings = content;
  s.configured = s.initialised = true;
  s.finalised = false;
  s.references = 1;
  record_per_process(settings.per_process);
  set_default_device(settings.default_device);
  return ACL_SUCCESS;
}

int32_t refuse_finalize(const char *function) {
  return fail(ACL_ERROR_REPEAT_FINALIZE, "EH0009",
              Text() << function << ": was called before, one call per aclInit is accepted");
}

}  // namespace

void init_before_fork() noexcept { state().mutex.lock(); }
void init_after_fork() noexcept { state().mutex.unlock(); }

}  // namespace pyaclnn

using namespace pyaclnn;

aclError aclInit(const char *configPath) {
  try {
    return init(configPath);
  } catch (...) {
    return refuse_memory(ACL_ERROR_BAD_ALLOC, "aclInit", "the configuration", 0);
  }
}

aclError aclFinalize(void) {
  {
    State &s = state();
    std::lock_guard lock(s.mutex);
    if (s.finalised) return refuse_finalize("aclFinalize");
    s.finalised = true;
    s.initialised = false;
    s.references = 0;
  }
  streams_shut_down();
  return ACL_SUCCESS;
}

aclError aclFinalizeReference(uint64_t *refCount) {
  bool last = false;
  {
    State &s = state();
    std::lock_guard lock(s.mutex);
    if (s.references == 0) return refuse_finalize("aclFinalizeReference");
    last = --s.references == 0;
    if (refCount != nullptr) *refCount = s.references;
    if (last) {
      s.finalised = true;
      s.initialised = false;
    }
  }
  if (last) streams_shut_down();
  return ACL_SUCCESS;
}
