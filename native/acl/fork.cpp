// The child of a fork has one thread and our data as it was: all locks are taken before the fork,
// in their order, so that nothing is half done, and given back on both sides.
#include <pthread.h>

#include "acl/callback_state.hpp"
#include "acl/device_state.hpp"
#include "acl/handle_state.hpp"
#include "acl/init_state.hpp"
#include "acl/memory_state.hpp"
#include "acl/stream_state.hpp"
#include "acl/task_state.hpp"
#include "acl/virtual_memory_state.hpp"
#include "support/pool_state.hpp"
#include "support/record_state.hpp"

namespace pyaclnn {
namespace {

void prepare() {
  init_before_fork();
  devices_before_fork();
  callbacks_before_fork();
  streams_before_fork();
  virtual_memory_before_fork();
  handles_before_fork();
  memory_before_fork();
  tasks_before_fork();
  record_before_fork();
}

void release_leaves() {
  record_after_fork();
  tasks_after_fork();
  memory_after_fork();
  handles_after_fork();
  virtual_memory_after_fork();
}

void parent() {
  release_leaves();
  streams_after_fork_in_parent();
  callbacks_after_fork_in_parent();
  devices_after_fork();
  init_after_fork();
}

void child() {
  release_leaves();
  pool_after_fork_in_child();
  streams_after_fork_in_child();
  callbacks_after_fork_in_child();
  devices_after_fork();
  init_after_fork();
}

__attribute__((constructor)) void watch_forks() { pthread_atfork(prepare, parent, child); }

}  // namespace
}  // namespace pyaclnn
