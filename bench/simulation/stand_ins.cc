#include "bench/simulation/stand_ins.h"

// The section of what was called thread_local, from the linker. Weak: it may be empty.
extern "C" {
extern char __start_simulated_locals[] __attribute__((weak, visibility("hidden")));
extern char __stop_simulated_locals[] __attribute__((weak, visibility("hidden")));
}

namespace jackdaw::simulation {

void Mutex::lock() {
  line_.Modify();
  if (!held_) {
    held_ = true;
    return;
  }
  Machine* machine = Machine::Current();
  waiting_.push_back(machine->self());
  machine->Block();  // Who resumes it has left it the lock.
}

void Mutex::unlock() {
  line_.Store(std::memory_order_release);
  if (waiting_.empty()) {
    held_ = false;
    return;
  }
  Machine* machine = Machine::Current();
  const int next = waiting_.front();
  waiting_.pop_front();
  machine->Resume(next, machine->now_ns() + machine->CrossCore(next));
}

void Notification::Notify() {
  notified_.store(true, std::memory_order_release);
  for (; waiting_ > 0; --waiting_) Machine::Current()->Wake(this);
}

void Notification::WaitForNotification() {
  while (!notified_.load(std::memory_order_acquire)) {
    ++waiting_;
    Machine::Current()->Sleep(this);
  }
}

int CreateThread(pthread_t* thread, const pthread_attr_t*, void* (*body)(void*), void* argument) {
  *thread = static_cast<pthread_t>(Machine::Current()->Start([=] { (void)body(argument); }));
  return 0;
}

int JoinThread(pthread_t thread, void**) {
  Machine::Current()->Join(static_cast<int>(thread));
  return 0;
}

int DetachThread(pthread_t) { return 0; }
int NameThread(pthread_t, const char*) { return 0; }
int BindThread(pthread_t, std::size_t, const cpu_set_t*) { return 0; }

int YieldThread() {
  Machine& machine = *Machine::Current();
  machine.Charge(machine.costs().syscall_ns);
  machine.Order();
  return 0;
}

void Pause() {
  Machine& machine = *Machine::Current();
  machine.Charge(machine.costs().pause_ns);
  machine.Order();
}

absl::Span<char> ThreadLocals() {
  return {__start_simulated_locals,
          static_cast<std::size_t>(__stop_simulated_locals - __start_simulated_locals)};
}

}  // namespace jackdaw::simulation
