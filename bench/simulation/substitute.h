// Substitute: makes the pool's sources run on the simulated machine. The build includes this file
// before each of them (-include), and in them the names of atomics, locks, threads and
// thread-locals are those of stand_ins.h. `jackdaw` becomes the namespace that JACKDAW_SIMULATED
// names, so that a program holds both the real pool and simulated ones, made of the same text.
//
// What is not stood in for is real, and must not block. A new kind of lock in those sources does
// not get past the compiler; a new header of a library is added to the list below.

#ifndef JACKDAW_BENCH_SIMULATION_SUBSTITUTE_H_
#define JACKDAW_BENCH_SIMULATION_SUBSTITUTE_H_

// Everything from elsewhere that those sources include, before the names change.
#include <hwloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "bench/simulation/machine.h"
#include "bench/simulation/outcome.h"
#include "bench/simulation/simulated.h"
#include "bench/simulation/stand_ins.h"

// A name that survives the change of `jackdaw`.
namespace simulation = ::jackdaw::simulation;

namespace simulated_std {
using namespace std;
template <typename T>
using atomic = ::simulation::Atomic<T>;
using mutex = ::simulation::Mutex;
}  // namespace simulated_std

namespace simulated_absl {
using namespace absl;
using Mutex = ::simulation::Mutex;
using MutexLock = ::simulation::MutexLock;
using Notification = ::simulation::Notification;
}  // namespace simulated_absl

// What both programs speak of is one type.
namespace JACKDAW_SIMULATED::bench {
using ::jackdaw::bench::Outcome;
using ::jackdaw::bench::Setup;
using ::jackdaw::bench::Shape;
}  // namespace JACKDAW_SIMULATED::bench

#define std simulated_std
#define absl simulated_absl
#define jackdaw JACKDAW_SIMULATED
// Each simulated thread has its copy of this section; see Machine::Options::thread_locals.
#define thread_local __attribute__((section("simulated_locals")))
#define pthread_create ::simulation::CreateThread
#define pthread_join ::simulation::JoinThread
#define pthread_detach ::simulation::DetachThread
#define pthread_setname_np ::simulation::NameThread
#define pthread_setaffinity_np ::simulation::BindThread
#define sched_yield ::simulation::YieldThread
#define __builtin_ia32_pause ::simulation::Pause

#endif  // JACKDAW_BENCH_SIMULATION_SUBSTITUTE_H_
