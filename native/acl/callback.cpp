// Host callbacks in stream order: on a worker thread (aclrtLaunchHostFunc), or on a thread
// that the program subscribed (aclrtLaunchCallback with aclrtProcessReport, and the older twin).
#include <pthread.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>

#include "acl/acl.h"
#include "acl/callback_state.hpp"
#include "acl/refuse.hpp"
#include "acl/stream_state.hpp"
#include "support/clock.hpp"

namespace pyaclnn {
namespace {

struct Report {
  Report *next;
  aclrtCallback fn;
  void *user_data;
  Mark *mark;  // finished after the call; nullptr when nothing waits for it
  Home home;   // the stream that waits
};

// One subscribed thread: its streams share a queue.
struct Subscriber {
  Subscriber *next = nullptr;
  uint64_t thread = 0;
  int32_t streams = 0;
  Report *first = nullptr, *last = nullptr;
};

struct Subscription {
  Subscription *next;
  uint64_t stream;  // handle
  Subscriber *subscriber;
};

// Guards everything here. Taken before the locks of streams, never while a callback runs.
constinit std::mutex g_mutex;
Subscriber *g_subscribers = nullptr;
Subscription *g_subscriptions = nullptr;

std::condition_variable &arrived() {
  alignas(std::condition_variable) static unsigned char memory[sizeof(std::condition_variable)];
  static auto *const once = new (memory) std::condition_variable();
  return *once;
}

// With the mutex held.
Subscriber *subscriber_of_thread(uint64_t thread) {
  for (Subscriber *s = g_subscribers; s != nullptr; s = s->next) {
    if (s->thread == thread) return s;
  }
  return nullptr;
}
Subscription **subscription_of(uint64_t stream) {
  Subscription **at = &g_subscriptions;
  while (*at != nullptr && (*at)->stream != stream) at = &(*at)->next;
  return at;
}

int32_t stream_home(aclrtStream argument, const char *function, Home *home) {
  Stream *stream = nullptr;
  std::unique_lock<std::mutex> lock;
  int32_t code = stream_lock(argument, function, &stream, &lock);
  if (code == 0) *home = {stream->self, stream->context, stream->device};
  return code;
}

int32_t stream_handle(aclrtStream argument, const char *function, uint64_t *handle) {
  Home home;
  int32_t code = stream_home(argument, function, &home);
  if (code == 0) *handle = home.stream;
  return code;
}

int32_t subscribe(const char *function, uint64_t thread, aclrtStream argument) {
  uint64_t stream = 0;
  if (int32_t code = stream_handle(argument, function, &stream); code != 0) return code;
  std::lock_guard lock(g_mutex);
  if (*subscription_of(stream) != nullptr) {
    return fail(
        ACL_ERROR_RT_STREAM_SUBSCRIBE, "EE1001",
        Text() << function << ": stream: is subscribed already, one subscription is accepted");
  }
  Subscriber *subscriber = subscriber_of_thread(thread);
  const bool fresh = subscriber == nullptr;
  if (fresh) subscriber = new (std::nothrow) Subscriber();
  auto *subscription = new (std::nothrow) Subscription{g_subscriptions, stream, subscriber};
  if (subscriber == nullptr || subscription == nullptr) {
    if (fresh) delete subscriber;
    delete subscription;
    return refuse_memory(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, function, "a subscription",
                         sizeof(Subscriber));
  }
  if (fresh) {
    subscriber->thread = thread;
    subscriber->next = g_subscribers;
    g_subscribers = subscriber;
  }
  ++subscriber->streams;
  g_subscriptions = subscription;
  return ACL_SUCCESS;
}

// With the mutex held; returns the reports that no thread will run any more.
Report *leave(Subscriber *subscriber) {
  if (--subscriber->streams != 0) return nullptr;
  Subscriber **at = &g_subscribers;
  while (*at != subscriber) at = &(*at)->next;
  *at = subscriber->next;
  Report *rest = subscriber->first;
  delete subscriber;
  arrived().notify_all();
  return rest;
}

void finish(Report *report) {
  if (report->mark != nullptr) {
    mark_finish(report->mark, true);
    mark_drop(report->mark);
  }
  delete report;
}

void finish_all(Report *list) {
  while (list != nullptr) {
    Report *next = list->next;
    finish(list);
    list = next;
  }
}

int32_t unsubscribe(const char *function, uint64_t thread, aclrtStream argument) {
  uint64_t stream = 0;
  if (int32_t code = stream_handle(argument, function, &stream); code != 0) return code;
  Report *rest = nullptr;
  {
    std::lock_guard lock(g_mutex);
    if (subscriber_of_thread(thread) == nullptr) {
      return fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "EE1001",
                  Text() << function << ": threadId: thread " << thread
                         << " is not subscribed, a subscribed one is required");
    }
    Subscription **at = subscription_of(stream);
    if (*at == nullptr || (*at)->subscriber->thread != thread) {
      return fail(ACL_ERROR_RT_STREAM_NO_CB_REG, "EE1001",
                  Text() << function << ": stream: is not subscribed by thread " << thread
                         << ", a stream it subscribed is required");
    }
    Subscription *gone = *at;
    *at = gone->next;
    rest = leave(gone->subscriber);
    delete gone;
  }
  finish_all(rest);
  return ACL_SUCCESS;
}

int32_t process(const char *function, int32_t timeout) {
  if (timeout != -1 && timeout <= 0) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "timeout", timeout,
                        "-1 (no limit), or milliseconds from 1");
  }
  const uint64_t deadline =
      timeout == -1 ? 0 : monotonic_ns() + static_cast<uint64_t>(timeout) * 1000000u;
  const auto thread = static_cast<uint64_t>(pthread_self());
  std::unique_lock lock(g_mutex);
  Subscriber *subscriber = nullptr;
  for (;;) {
    subscriber = subscriber_of_thread(thread);
    if (subscriber == nullptr) {
      lock.unlock();
      return fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "EE1001",
                  Text() << function
                         << ": this thread is not subscribed to any stream, call the "
                            "subscribe function with its pthread_self() first");
    }
    if (subscriber->first != nullptr) break;
    if (deadline == 0) {
      arrived().wait(lock);
      continue;
    }
    uint64_t now = monotonic_ns();
    if (now >= deadline) {
      lock.unlock();
      return fail(ACL_ERROR_RT_REPORT_TIMEOUT, "EE1001",
                  Text() << function << ": timeout: nothing to report within " << timeout << " ms");
    }
    arrived().wait_for(lock, std::chrono::nanoseconds(deadline - now));
  }
  Report *list = subscriber->first;
  subscriber->first = subscriber->last = nullptr;
  lock.unlock();
  while (list != nullptr) {
    Report *next = list->next;
    if (list->mark != nullptr) {
      Duty duty(list->home);
      list->fn(list->user_data);
    } else {
      list->fn(list->user_data);
    }
    finish(list);
    list = next;
  }
  return ACL_SUCCESS;
}

struct Call {
  aclrtHostFunc fn;
  void *argument;
};

struct Post {
  uint64_t stream;
  Report *report;  // owned by the task until it is posted
};

}  // namespace

void callbacks_forget_stream(uint64_t stream) noexcept {
  Report *rest = nullptr;
  {
    std::lock_guard lock(g_mutex);
    Subscription **at = subscription_of(stream);
    if (*at == nullptr) return;
    Subscription *gone = *at;
    *at = gone->next;
    rest = leave(gone->subscriber);
    delete gone;
  }
  finish_all(rest);
}

void callbacks_before_fork() noexcept { g_mutex.lock(); }
void callbacks_after_fork_in_parent() noexcept { g_mutex.unlock(); }
void callbacks_after_fork_in_child() noexcept {
  new (&arrived()) std::condition_variable();  // its waiters exist in the parent only
  g_mutex.unlock();
}

}  // namespace pyaclnn

using namespace pyaclnn;

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return subscribe("aclrtSubscribeReport", threadId, stream);
}
aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return unsubscribe("aclrtUnSubscribeReport", threadId, stream);
}
aclError aclrtProcessReport(int32_t timeout) { return process("aclrtProcessReport", timeout); }

aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream) {
  return subscribe("aclrtSubscribeHostFunc", hostFuncThreadId, exeStream);
}
aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream) {
  return unsubscribe("aclrtUnSubscribeHostFunc", hostFuncThreadId, exeStream);
}
aclError aclrtProcessHostFunc(int32_t timeout) { return process("aclrtProcessHostFunc", timeout); }

aclError aclrtLaunchCallback(aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
  const char *function = "aclrtLaunchCallback";
  auto block = static_cast<uint32_t>(blockType);
  if (block > ACL_CALLBACK_BLOCK) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "blockType", block,
                        "0 (no block), 1 (block)");
  }
  if (fn == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004",
                Text() << function << ": fn: is NULL, a function is required");
  }
  Home home;
  if (int32_t code = stream_home(stream, function, &home); code != 0) return code;
  {
    std::lock_guard lock(g_mutex);
    if (*subscription_of(home.stream) == nullptr) {
      return fail(ACL_ERROR_RT_STREAM_NO_CB_REG, "EE1001",
                  Text() << function
                         << ": stream: no thread is subscribed to it, call "
                            "aclrtSubscribeReport first");
    }
  }
  const bool waits = block == ACL_CALLBACK_BLOCK;
  Mark *mark = waits ? mark_new() : nullptr;
  Task *wait = mark != nullptr ? mark_wait_task(mark) : nullptr;
  Task *task = task_new(sizeof(Post));
  auto *report = new (std::nothrow) Report{nullptr, fn, userData, mark, home};
  auto give_up = [](Task *it) {
    if (it == nullptr) return;
    if (it->release != nullptr) it->release(it);
    task_free(it);
  };
  if (task == nullptr || report == nullptr || (waits && wait == nullptr)) {
    give_up(wait);
    task_free(task);
    delete report;
    mark_drop(mark);
    return refuse_memory(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, function, "the callback",
                         sizeof(Report));
  }
  Post post{home.stream, report};
  std::memcpy(task->payload(), &post, sizeof post);
  // The stream hands the call over here; the wait behind it parks the stream until it is done.
  task->run = [](Task *it, Text &) {
    auto *its = reinterpret_cast<Post *>(it->payload());
    std::lock_guard lock(g_mutex);
    Subscription *subscription = *subscription_of(its->stream);
    if (subscription == nullptr) return 0;  // unsubscribed meanwhile: there is no thread to call it
    Subscriber *subscriber = subscription->subscriber;
    if (subscriber->last != nullptr && subscriber->first != nullptr) {
      subscriber->last->next = its->report;
    } else {
      subscriber->first = its->report;
    }
    subscriber->last = its->report;
    its->report = nullptr;
    arrived().notify_all();
    return 0;
  };
  task->release = [](Task *it) {
    Report *mine = reinterpret_cast<Post *>(it->payload())->report;
    if (mine != nullptr) finish(mine);
  };
  int32_t code = stream_push(stream, function, task);
  if (wait == nullptr) return code;
  if (code == 0) return stream_push(stream, function, wait, Work::Wait);
  give_up(wait);
  return code;
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args) {
  const char *function = "aclrtLaunchHostFunc";
  if (fn == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004",
                Text() << function << ": fn: is NULL, a function is required");
  }
  Task *task = task_new(sizeof(Call));
  if (task == nullptr) {
    return refuse_memory(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, function, "the task", sizeof(Call));
  }
  Call call{fn, args};
  std::memcpy(task->payload(), &call, sizeof call);
  task->run = [](Task *it, Text &) {
    auto *its = reinterpret_cast<Call *>(it->payload());
    its->fn(its->argument);
    return 0;
  };
  return stream_push(stream, function, task, Work::User);
}
