#include "support/env.hpp"

#include <cstdlib>
#include <cstring>
#include <span>

#include "support/text.hpp"

namespace pyaclnn {
namespace {

// Copies, because the program may change its environment after we looked.
const char *text_of(const char *name) {
  const char *value = std::getenv(name);
  return value != nullptr && *value != '\0' ? strdup(value) : nullptr;
}

struct Reader {
  Env &env;

  void refuse(const char *name, const char *value, const Text &accepted) {
    if (env.error != nullptr) return;
    Text text;
    text << "environment variable " << name << " is \"" << std::string_view(value).substr(0, 64)
         << "\", must be " << accepted.view();
    env.error = strdup(text.c_str());
  }
  // One of the names, by its index; `absent` when the variable is not set or unusable.
  int32_t choice(const char *name, const char *value, std::span<const char *const> names,
                 int32_t absent) {
    if (value == nullptr) return absent;
    Text accepted;
    for (size_t i = 0; i < names.size(); ++i) {
      if (std::strcmp(value, names[i]) == 0) return static_cast<int32_t>(i);
      accepted << (i == 0 ? "" : ", ") << names[i];
    }
    refuse(name, value, accepted);
    return absent;
  }
  int32_t number(const char *name, int32_t low, int32_t high, int32_t absent) {
    const char *value = text_of(name);
    if (value == nullptr) return absent;
    char *end = nullptr;
    long parsed = std::strtol(value, &end, 10);
    if (end == value || *end != '\0' || parsed < low || parsed > high) {
      refuse(name, value, Text() << low << " .. " << high);
      return absent;
    }
    return static_cast<int32_t>(parsed);
  }
};

// An invalid value of one of CANN's own variables means the default, as in CANN; one of a PYACLNN_
// variable is refused, because these are only set on purpose.
Env read_environment() {
  Env env{};
  Reader reader{env};
  env.product = text_of("PYACLNN_PRODUCT");
  env.isa = text_of("PYACLNN_ISA");
  env.threads = reader.number("PYACLNN_NUM_THREADS", 1, 256, 0);
  env.device_count = reader.number("PYACLNN_DEVICE_COUNT", 1, 64, 1);

  const char *blocking = text_of("ASCEND_LAUNCH_BLOCKING");
  const bool block = blocking != nullptr && std::strcmp(blocking, "1") == 0;
  env.stream_mode = static_cast<StreamMode>(
      reader.choice("PYACLNN_STREAM", text_of("PYACLNN_STREAM"), kStreamModes,
                    static_cast<int32_t>(block ? StreamMode::Blocking : StreamMode::Auto)));
  reader.choice("PYACLNN_ISA", env.isa, kIsaLevels, 0);

  static const char *const kLogs[] = {"profile"};
  env.profile = reader.choice("PYACLNN_LOG", text_of("PYACLNN_LOG"), kLogs, -1) == 0;

  env.log_level = 3;
  if (const char *level = text_of("ASCEND_GLOBAL_LOG_LEVEL"); level != nullptr) {
    if (level[0] >= '0' && level[0] <= '4' && level[1] == '\0') env.log_level = level[0] - '0';
  } else if (const char *named = text_of("ATB_LOG_LEVEL"); named != nullptr) {
    static const struct {
      const char *name;
      int32_t level;
    } kNames[] = {{"TRACE", 0}, {"DEBUG", 0}, {"INFO", 1}, {"WARN", 2}, {"ERROR", 3}, {"FATAL", 4}};
    for (const auto &each : kNames) {
      if (std::strcmp(named, each.name) == 0) env.log_level = each.level;
    }
  }
  for (const char *name : {"ASCEND_SLOG_PRINT_TO_STDOUT", "ATB_LOG_TO_STDOUT"}) {
    const char *to_stdout = text_of(name);
    if (to_stdout != nullptr && std::strcmp(to_stdout, "1") == 0) env.log_to_stdout = true;
  }
  return env;
}

}  // namespace

const Env &env() noexcept {
  static const Env once = read_environment();
  return once;
}

}  // namespace pyaclnn
