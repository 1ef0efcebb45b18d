// aclInit and its file, one fresh process per argument.
#include <acl/acl.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "tap.hpp"

namespace {

std::string folder;

int32_t init_with(const char *content) {
  const std::string path = folder + "/config.json";
  std::ofstream(path) << content;
  return aclInit(path.c_str());
}

bool told(const char *part) {
  const char *text = aclGetRecentErrMsg();
  return text != nullptr && std::strstr(text, part) != nullptr;
}

void repeat() {
  tap::equal(aclInit(nullptr), 0, "I1 first init");
  tap::equal(aclInit(nullptr), 100002, "I2 second init");
  tap::ok(told("aclInit"), "I2 leaves a text");
  tap::equal(aclFinalize(), 0, "I5 finalize");
  tap::equal(aclFinalize(), 100037, "I5 second finalize");
  tap::equal(aclInit(""), 0, "an empty path is no path, and init works again");
  uint64_t left = 7;
  tap::equal(aclInit(nullptr), 100002, "the repetition counts");
  tap::equal(aclFinalizeReference(&left), 0, "finalize a reference");
  tap::equal(left, 1u, "one reference is left");
  tap::equal(aclFinalizeReference(nullptr), 0, "the last reference");
  tap::equal(aclFinalizeReference(&left), 100037, "no reference is left");
  tap::equal(init_with("{\"err_msg_mode\":\"1\"}"), 100000, "another configuration after finalize");
}

void finalize_first() {
  tap::equal(aclFinalize(), 0, "finalize without init");
  tap::equal(aclFinalize(), 100037, "and again");
}

void files() {
  tap::equal(aclInit("/does/not/exist.json"), 100003, "I3 missing file");
  tap::ok(told("/does/not/exist.json"), "I3 the text holds the path");
  tap::equal(aclInit(folder.c_str()), 100003, "I3 a folder");
  tap::equal(init_with("{"), 100006, "I4 half an object");
  tap::equal(init_with(""), 100006, "I4 empty file");
  tap::equal(init_with("[]"), 100006, "I4 no object");
  tap::equal(init_with("{} x"), 100006, "I4 something behind");
  tap::equal(init_with("{\"a\":01}"), 100006, "I4 leading zero");
  tap::equal(init_with("{\"a\":\"\\q\"}"), 100006, "I4 unknown escape");
  tap::equal(init_with("{\"a\":1,}"), 100006, "I4 trailing comma");
  tap::equal(init_with("{\"a\":1,\"a\":2}"), 100006, "I4 key twice");
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "{\"a\":";
  tap::equal(init_with(deep.c_str()), 100006, "I4 nested too deeply");
  tap::equal(init_with("{\"err_msg_mode\":\"7\"}"), 100000, "I6 unknown err_msg_mode");
  tap::ok(told("err_msg_mode"), "I6 the text names the key");
  tap::equal(init_with("{\"err_msg_mode\":1}"), 500000, "I6 wrong type");
  tap::equal(init_with("{\"defaultDevice\":{\"default_device\":\"-1\"}}"), 100000,
             "negative default device");
  tap::equal(init_with("{\"defaultDevice\":{\"default_device\":\"99\"}}"), 107001,
             "default device that does not exist");
  tap::equal(init_with("{\"defaultDevice\":3}"), 500000, "default device of a wrong type");
  tap::equal(aclInit(nullptr), 0, "I3 a later init works");
}

void good_file() {
  tap::equal(
      init_with(" { \"dump\" : {\"dump_list\": [], \"x\":[1.5e3,true,null,\"\\u00e9\\n\"]} ,"
                "\"max_opqueue_num\":\"100\", \"defaultDevice\":{\"default_device\":\"0\"} } "),
      0, "a full file");
  int32_t device = -1;
  tap::equal(aclrtGetDevice(&device), 0, "the default device needs no set");
  tap::equal(device, 0, "it is device 0");
  std::thread([] {
    int32_t other = -1;
    tap::equal(aclrtGetDevice(&other), 0, "on other threads as well");
  }).join();
}

void process_mode() {
  tap::equal(init_with("{\"err_msg_mode\":\"1\"}"), 0, "errors per process");
  aclrtFree(nullptr);
  std::thread([] {
    const char *text = aclGetRecentErrMsg();
    tap::ok(text != nullptr && std::strstr(text, "aclrtFree") != nullptr &&
                std::strstr(text, "[THREAD: ") != nullptr,
            "X4 in process mode another thread reads the text");
  }).join();
  tap::ok(aclGetRecentErrMsg() == nullptr, "it is gone then");
}

void bad_variable() {
  tap::equal(aclInit(nullptr), 500000, "an unusable variable");
  tap::ok(told(std::getenv("BAD_NAME")), "the text names it");
}

}  // namespace

int main(int, char **arguments) {
  const std::string which = arguments[1];
  folder = arguments[2];
  if (which == "repeat") repeat();
  if (which == "finalize_first") finalize_first();
  if (which == "files") files();
  if (which == "good_file") good_file();
  if (which == "process_mode") process_mode();
  if (which == "bad_variable") bad_variable();
  return tap::done();
}
