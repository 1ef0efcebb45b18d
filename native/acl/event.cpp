// Events.
#include "acl/acl.h"
#include "acl/device_state.hpp"
#include "acl/refuse.hpp"
#include "acl/stream_state.hpp"
#include "support/log.hpp"

namespace pyaclnn {
namespace {

constexpr uint32_t kCombinable =
    ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE;

struct Event {
  static constexpr Kind kKind = Kind::Event;
  // Guarded by marks_mutex.
  uint64_t self = 0;
  uint64_t context = 0;
  uint32_t flags = 0;
  bool recycled = false;  // made by aclrtCreateEventExWithFlag
  Mark *mark = nullptr;   // the latest record, or what waits for the first one
};

int32_t create_event(const char *function, aclrtEvent *event, uint32_t flags, bool recycled) {
  if (current_context_payload() == nullptr) return refuse_no_context(function);
  Mark *mark = mark_new();
  void *handle = nullptr;
  auto *payload = mark != nullptr ? create_handle<Event>(&handle) : nullptr;
  if (payload == nullptr) {
    mark_drop(mark);
    return refuse_memory(ACL_ERROR_RT_NO_EVENT_RESOURCE, function, "an event", sizeof(Event));
  }
  std::lock_guard marks(marks_mutex());
  payload->self = handle_value(handle);
  payload->context = current_context();
  payload->flags = flags;
  payload->recycled = recycled;
  payload->mark = mark;
  *event = handle;
  return ACL_SUCCESS;
}

int32_t refuse_flags(const char *function, uint32_t flag, const char *accepted) {
  return refuse_value(ACL_ERROR_RT_PARAM_INVALID, function, "flag", flag, accepted);
}

// What a call needs of an event, read at once; keeps the mark.
struct View {
  uint64_t context = 0;
  uint32_t flags = 0;
  bool recycled = false;
  Mark *mark = nullptr;
  bool recorded = false, done = false;
  Stream *stream = nullptr;  // the stream that will reach the record, and when
  uint64_t stream_self = 0, ticket = 0;
  uint64_t time_ns = 0;
  int32_t waits = 0;

  View() = default;
  View(const View &) = delete;
  View &operator=(const View &) = delete;
  ~View() { mark_drop(mark); }
};

int32_t look(const char *function, const char *parameter, aclrtEvent event, View *view) {
  if (event == nullptr) return refuse_null(function, parameter);
  auto *payload = find_handle<Event>(event);
  {
    std::lock_guard marks(marks_mutex());
    if (payload != nullptr && payload->self == handle_value(event)) {
      view->context = payload->context;
      view->flags = payload->flags;
      view->recycled = payload->recycled;
      view->mark = payload->mark;
      mark_keep(view->mark);
      view->recorded = view->mark->recorded;
      view->done = mark_passed(view->mark);
      view->stream = view->mark->stream;
      view->stream_self = view->mark->stream_self;
      view->ticket = view->mark->ticket;
      view->time_ns = view->mark->time_ns;
      view->waits = view->mark->waits;
      return 0;
    }
  }
  return refuse_handle(function, parameter, "event");
}

// Puts `mark` in place of the event's present one; false when the event has died.
bool replace_mark(aclrtEvent event, Mark *mark) {
  auto *payload = find_handle<Event>(event);
  Mark *old = nullptr;
  {
    std::lock_guard marks(marks_mutex());
    if (payload == nullptr || payload->self != handle_value(event)) return false;
    old = payload->mark;
    payload->mark = mark;
  }
  mark_drop(old);
  return true;
}

int32_t refuse_recycled(const char *function) {
  return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1001",
              Text() << function
                     << ": event: was made by aclrtCreateEventExWithFlag, one made by "
                        "aclrtCreateEvent or aclrtCreateEventWithFlag is required");
}

int32_t refuse_unrecorded(const char *function, const char *parameter) {
  return fail(ACL_ERROR_RT_INTERNAL_ERROR, "EE9999",
              Text() << function << ": " << parameter
                     << ": was never recorded, call aclrtRecordEvent first");
}

// Lazy mode: a query lets the work before the record run. Unlike a synchronisation it never waits.
bool query(View &view) {
  if (view.done) return true;
  if (!view.recorded) return view.recycled;
  if (stream_mode() == StreamMode::Lazy) stream_help(view.stream, view.stream_self, view.ticket);
  std::lock_guard marks(marks_mutex());
  return mark_passed(view.mark);
}

int32_t synchronize(const char *function, aclrtEvent event, uint64_t deadline) {
  View view;
  if (int32_t code = look(function, "event", event, &view); code != 0) return code;
  if (!view.recorded) return view.recycled ? ACL_SUCCESS : refuse_unrecorded(function, "event");
  if (!view.done && own_work_of(view.stream_self)) return refuse_own_work(function, "event");
  if (mark_wait(view.mark, deadline)) return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "EE1001",
              Text() << function << ": event: has not been passed within the limit");
}

int32_t time_of(const char *function, const char *parameter, aclrtEvent event, uint64_t *time_ns) {
  View view;
  if (int32_t code = look(function, parameter, event, &view); code != 0) return code;
  if (!view.recorded) return refuse_unrecorded(function, parameter);
  const char *why = nullptr;
  if ((view.flags & ACL_EVENT_TIME_LINE) == 0)
    why = "was made without ACL_EVENT_TIME_LINE";
  else if (!view.done)
    why = "is not complete, synchronise first";
  else if (view.time_ns == 0)
    why = "was dropped with the work before it";
  if (why != nullptr) {
    return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "EE1001",
                Text() << function << ": " << parameter << ": " << why
                       << ", a completed event with a time line is required");
  }
  *time_ns = view.time_ns;
  return 0;
}

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

aclError aclrtCreateEvent(aclrtEvent *event) {
  if (event == nullptr) return refuse_null("aclrtCreateEvent", "event");
  return create_event("aclrtCreateEvent", event, kCombinable, false);
}

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag) {
  const char *function = "aclrtCreateEventWithFlag";
  if (event == nullptr) return refuse_null(function, "event");
  const bool combined = flag != 0 && (flag & ~kCombinable) == 0;
  if (!combined && flag != ACL_EVENT_DEVICE_USE_ONLY && flag != ACL_EVENT_EXTERNAL) {
    return refuse_flags(function, flag,
                        "an OR of 1 (sync), 2 (progress), 8 (time line); or 0x10 or 0x20 alone");
  }
  return create_event(function, event, flag, false);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag) {
  const char *function = "aclrtCreateEventExWithFlag";
  if (event == nullptr) return refuse_null(function, "event");
  const bool combined = flag != 0 && (flag & ~kCombinable) == 0;
  if (!combined && flag != ACL_EVENT_IPC) {
    return refuse_flags(function, flag,
                        "an OR of 1 (sync), 2 (progress), 8 (time line); or 0x40 alone");
  }
  return create_event(function, event, flag, true);
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  const char *function = "aclrtDestroyEvent";
  if (event == nullptr) return refuse_null(function, "event");
  auto *payload = claim_handle<Event>(event);
  if (payload == nullptr) return refuse_handle(function, "event", "event");
  Mark *mark = nullptr;
  // It can no longer be recorded; a stream that waits for a first record would wait for ever.
  bool hopeless = false;
  {
    std::lock_guard marks(marks_mutex());
    payload->self = 0;
    mark = payload->mark;
    payload->mark = nullptr;
    hopeless = !mark->recorded;
  }
  if (hopeless) mark_finish(mark, false);
  mark_drop(mark);
  recycle_handle<Event>(event);
  return ACL_SUCCESS;
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  const char *function = "aclrtRecordEvent";
  View view;
  if (int32_t code = look(function, "event", event, &view); code != 0) return code;
  // The context of the event is judged here, that of the stream by the push.
  if (view.context != current_context() && current_context_payload() != nullptr) {
    return fail(ACL_ERROR_RT_STREAM_CONTEXT, "EE1001",
                Text() << function
                       << ": event: belongs to another context, an event of this "
                          "thread's current context is required");
  }
  // The first record fulfils what already waits for it; a later one moves the event on.
  const bool needs_new_mark = view.recorded;
  Mark *mark = needs_new_mark ? mark_new() : view.mark;
  Task *task = mark != nullptr ? task_new(sizeof(Mark *)) : nullptr;
  if (task == nullptr) {
    if (needs_new_mark) mark_drop(mark);
    return refuse_memory(ACL_ERROR_RT_NO_EVENT_RESOURCE, function, "the record", sizeof(Mark));
  }
  mark_keep(mark);  // by the task
  *reinterpret_cast<Mark **>(task->payload()) = mark;
  task->small = true;
  task->run = [](Task *it, Text &) {
    mark_finish(*reinterpret_cast<Mark **>(it->payload()), true);
    return 0;
  };
  task->release = [](Task *it) {
    Mark *its = *reinterpret_cast<Mark **>(it->payload());
    bool submitted = false;
    {
      std::lock_guard marks(marks_mutex());
      submitted = its->recorded;
    }
    if (submitted) mark_finish(its, false);  // dropped work must not leave anybody waiting
    mark_drop(its);
  };
  int32_t code = stream_push(stream, function, task, Work::Plain, mark);
  if (needs_new_mark && (code != 0 || !replace_mark(event, mark))) mark_drop(mark);
  return code;
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  const char *function = "aclrtResetEvent";
  View view;
  if (int32_t code = look(function, "event", event, &view); code != 0) return code;
  if (view.recycled) return refuse_recycled(function);
  Stream *payload = nullptr;
  std::unique_lock<std::mutex> lock;
  if (int32_t code = stream_lock(stream, function, &payload, &lock); code != 0) return code;
  lock.unlock();
  // Waits that were submitted keep the record they saw, so nothing needs to be queued.
  if (!view.recorded) return ACL_SUCCESS;
  Mark *mark = mark_new();
  if (mark == nullptr) {
    return refuse_memory(ACL_ERROR_RT_NO_EVENT_RESOURCE, function, "the reset", sizeof(Mark));
  }
  if (!replace_mark(event, mark)) mark_drop(mark);
  return ACL_SUCCESS;
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  const char *function = "aclrtStreamWaitEvent";
  View view;
  if (int32_t code = look(function, "event", event, &view); code != 0) return code;
  if ((view.flags &
       (ACL_EVENT_SYNC | ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_EXTERNAL | ACL_EVENT_IPC)) == 0) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1006",
                Text() << function << ": event: was made with flags " << view.flags
                       << ", ACL_EVENT_SYNC (1) is required for a wait");
  }
  if (!view.recorded && view.recycled) {  // counts as complete
    Stream *payload = nullptr;
    std::unique_lock<std::mutex> lock;
    return stream_lock(stream, function, &payload, &lock);
  }
  Task *task = mark_wait_task(view.mark);
  if (task == nullptr) {
    return refuse_memory(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, function, "the wait", sizeof(Task));
  }
  return stream_push(stream, function, task, Work::Wait);
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status) {
  const char *function = "aclrtQueryEvent";
  View view;
  if (int32_t code = look(function, "event", event, &view); code != 0) return code;
  if (status == nullptr) return refuse_null(function, "status");
  if (view.recycled) return refuse_recycled(function);
  *status = query(view) ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status) {
  const char *function = "aclrtQueryEventStatus";
  View view;
  if (int32_t code = look(function, "event", event, &view); code != 0) return code;
  if (status == nullptr) return refuse_null(function, "status");
  *status = query(view) ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status) {
  const char *function = "aclrtQueryEventWaitStatus";
  View view;
  if (int32_t code = look(function, "event", event, &view); code != 0) return code;
  if (status == nullptr) return refuse_null(function, "status");
  if (view.recycled) return refuse_recycled(function);
  *status = view.waits == 0 ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return synchronize("aclrtSynchronizeEvent", event, 0);
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  const char *function = "aclrtSynchronizeEventWithTimeout";
  if (event == nullptr) return refuse_null(function, "event");
  uint64_t deadline = 0;
  if (int32_t code = deadline_of(function, timeout, &deadline); code != 0) return code;
  return synchronize(function, event, deadline);
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  const char *function = "aclrtEventElapsedTime";
  if (ms == nullptr) return refuse_null(function, "ms");
  uint64_t start = 0, end = 0;
  if (int32_t code = time_of(function, "startEvent", startEvent, &start); code != 0) return code;
  if (int32_t code = time_of(function, "endEvent", endEvent, &end); code != 0) return code;
  *ms = static_cast<float>(static_cast<double>(static_cast<int64_t>(end - start)) * 1e-6);
  return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp) {
  const char *function = "aclrtEventGetTimestamp";
  if (timestamp == nullptr) return refuse_null(function, "timestamp");
  uint64_t time_ns = 0;
  if (int32_t code = time_of(function, "event", event, &time_ns); code != 0) return code;
  *timestamp = time_ns / 1000;
  return ACL_SUCCESS;
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
  // A wait here costs no hardware, so no limit is needed to get it back.
  static std::atomic<bool> said{false};
  if (timeout != 0 && first_time(said)) {
    log(LogLevel::Warning, Text() << "aclrtSetOpWaitTimeout: timeout " << timeout
                                  << " s: accepted, waits have no limit");
  }
  return ACL_SUCCESS;
}
