// The model checker's stand-ins for what the lock-free headers are templates over: atomics,
// a mutex, and sleeping on a word. With these the checker, Relacy, runs the product's own
// code: it decides who goes next at each operation, and lets a load see any value that the
// C++ memory model allows, also those that this machine never shows.
//
// Include it after every other header: Relacy defines common words as macros. They are
// undefined again below, so that what follows is plain C++.

#ifndef JACKDAW_TESTS_MODEL_MODEL_ATOMIC_H_
#define JACKDAW_TESTS_MODEL_MODEL_ATOMIC_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>

#include <relacy/relacy.hpp>

#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

namespace jackdaw {

inline rl::memory_order ModelOrder(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return rl::mo_relaxed;
    case std::memory_order_consume:
      return rl::mo_consume;
    case std::memory_order_acquire:
      return rl::mo_acquire;
    case std::memory_order_release:
      return rl::mo_release;
    case std::memory_order_acq_rel:
      return rl::mo_acq_rel;
    case std::memory_order_seq_cst:
      break;
  }
  return rl::mo_seq_cst;
}

// What we use of std::atomic. Default-constructed it holds nothing, and the checker
// reports who reads it.
template <typename T>
class ModelAtomic {
 public:
  ModelAtomic() = default;
  ModelAtomic(T value) : atomic_(value) {}  // NOLINT: implicit, as std::atomic.

  T load(std::memory_order order) const { return atomic_.load(ModelOrder(order), RL_INFO); }
  void store(T value, std::memory_order order) { atomic_.store(value, ModelOrder(order), RL_INFO); }
  T exchange(T value, std::memory_order order) {
    return atomic_.exchange(value, ModelOrder(order), RL_INFO);
  }
  T fetch_add(T value, std::memory_order order) {
    return atomic_.fetch_add(value, ModelOrder(order), RL_INFO);
  }
  T fetch_sub(T value, std::memory_order order) {
    return atomic_.fetch_sub(value, ModelOrder(order), RL_INFO);
  }
  T fetch_or(T value, std::memory_order order) {
    return atomic_.fetch_or(value, ModelOrder(order), RL_INFO);
  }
  // Fails now and then for no reason.
  bool compare_exchange_weak(T& expected, T value, std::memory_order success,
                             std::memory_order failure) {
    return atomic_.compare_exchange_weak(expected, value, ModelOrder(success), RL_INFO,
                                         ModelOrder(failure), RL_INFO);
  }
  bool compare_exchange_strong(T& expected, T value, std::memory_order success,
                               std::memory_order failure) {
    return atomic_.compare_exchange_strong(expected, value, ModelOrder(success), RL_INFO,
                                           ModelOrder(failure), RL_INFO);
  }

 private:
  rl::atomic<T> atomic_;
};

class ModelMutex {
 public:
  void lock() { mutex_.lock(RL_INFO); }
  void unlock() { mutex_.unlock(RL_INFO); }

 private:
  rl::mutex mutex_;
};

// A futex for the threads of one model: one bucket for all words. As in the kernel, the
// look at the word and the falling asleep are one step to whoever wakes.
class ModelSleep {
 public:
  // Lives as long as one execution of the model.
  struct Bucket {
    Bucket() { current = this; }
    rl::mutex mutex;
    rl::condition_variable changed;
    static inline Bucket* current = nullptr;
  };
  static void Wait(ModelAtomic<std::uint32_t>& word, std::uint32_t expected) {
    Bucket& bucket = *Bucket::current;
    bucket.mutex.lock(RL_INFO);
    if (word.load(std::memory_order_seq_cst) == expected) {
      bucket.changed.wait(bucket.mutex, RL_INFO);
    }
    bucket.mutex.unlock(RL_INFO);
  }
  static void Wake(ModelAtomic<std::uint32_t>&) {
    Bucket& bucket = *Bucket::current;
    bucket.mutex.lock(RL_INFO);
    bucket.changed.notify_all(RL_INFO);
    bucket.mutex.unlock(RL_INFO);
  }
};

// Keeps the first part of what is written, without allocating: Relacy replaces `new` in the
// program but not in the standard library's shared object, and the two must not mix.
class Report final : public std::streambuf {
 public:
  Report() { setp(text_, text_ + sizeof(text_)); }
  [[nodiscard]] std::string text() const { return std::string(pbase(), pptr()); }

 private:
  int_type overflow(int_type c) override { return traits_type::not_eof(c); }
  char text_[1 << 16];
};

// Runs `Model` up to `executions` times, each with another interleaving chosen at random from
// a fixed seed. True if all is well; the reason and the history of a failure go to `report`.
template <typename Model>
bool Explore(rl::iteration_t executions, Report& report) {
  std::ostream output(&report);
  rl::test_params params;
  params.iteration_count = executions;
  params.search_type = rl::sched_random;
  params.execution_depth_limit = 4000;
  params.output_stream = &output;
  params.progress_stream = &output;
  params.progress_output_period = 1'000'000'000;
  return rl::simulate<Model>(params);
}

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_MODEL_MODEL_ATOMIC_H_
