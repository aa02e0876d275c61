// PipelineCore: the part of a pipeline that does not depend on what flows through it. Users see
// pipeline.h.
//
// How it flows
//   There are `window` slots; each holds one chunk of items. A task takes a free slot, reads
//   into it, submits the task that reads the next chunk, works on its own and leaves it to be
//   written. So one task reads at a time, and whoever finds the next chunk to write ready, and
//   nobody writing, writes it and those that follow. No task ever waits: a reader without a free
//   slot ends, and the writer that frees one submits the next.
//
// Invariants
//   (1) A slot is free, or in the hands of one task, or in `ready_`.
//   (2) Chunks are numbered as they are read; kKept writes them in that order, kAny as they
//       become ready.
//   (3) After an error nothing more is read, worked on or written. The pipeline ends with its
//       last task: then its lanes are closed, it is deleted, and the future resolves.
//   (4) Two chunks are never in work with one lane at a time.
//
// Thread safety: internal, by `mutex_`, which is not held while user code runs.

#ifndef JACKDAW_SCHEDULER_ASYNC_PIPELINE_CORE_H_
#define JACKDAW_SCHEDULER_ASYNC_PIPELINE_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/async/future.h"
#include "scheduler/async/promise.h"
#include "scheduler/pool/runner.h"
#include "scheduler/pool/task.h"

namespace jackdaw {

enum class PipelineOrder {
  kKept,  // Results are written in the order in which the items were read.
  kAny,   // As they are done.
};

struct PipelineOptions {
  PipelineOrder order = PipelineOrder::kKept;
  int chunk = 1;   // Items read, worked on and written at a time; at least 1.
  int window = 0;  // Chunks read and not yet written, at most. 0: four for each worker.
  // A lane is what one chunk at a time is worked on with: as many as chunks are worked on at
  // once, numbered from 0. Called before its first chunk, and after the last of all chunks by
  // whichever thread ends the pipeline, for each lane whose start was OK.
  std::function<absl::Status(int lane)> start_lane = nullptr;
  std::function<void(int lane)> end_lane = nullptr;
};

class PipelineCore {
 public:
  virtual ~PipelineCore();

  // Starts on `runner`. The core, from new, deletes itself in the end.
  Future<void> Start();
  // Does all of it on the calling thread, one chunk after another.
  absl::Status RunHere();

 protected:
  PipelineCore(Runner& runner, PipelineOptions options);

  // What happens to the chunk in `slot`. Calls user code; must not throw.
  // Fills it; false at the end of the input. One thread at a time.
  virtual absl::StatusOr<bool> ReadChunk(int slot) = 0;
  // Several threads at a time, of different slots and lanes.
  virtual absl::Status WorkOnChunk(int slot, int lane) = 0;
  // One thread at a time.
  virtual absl::Status WriteChunk(int slot) = 0;

  [[nodiscard]] const PipelineOptions& options() const { return options_; }
  [[nodiscard]] int window() const { return window_; }
  // Whether an error has ended it: what is in work may be dropped.
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  // The task that reads into a slot, and goes on with it.
  class Slot final : public Task {
   public:
    Slot() : Task(&Slot::Invoked) {}
    PipelineCore* core = nullptr;
    int index = 0;
    std::int64_t number = 0;  // Of the chunk in it.

   private:
    static void Invoked(Task* task, Verb verb) noexcept;
  };

  void Run(Slot& slot);
  [[nodiscard]] bool ReadStage(Slot& slot);
  void WorkStage(Slot& slot);
  void WriteStage(Slot& slot);
  void GiveUp(Slot& slot, absl::Status reason);
  void StartReader(Slot* slot);
  absl::Status WorkWithLane(int slot, int lane);
  void CloseLanes();
  void Leave();

  void Keep(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Slot* NextReader() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Slot* TakeReady() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Runner& runner_;
  const PipelineOptions options_;
  const int window_;
  const std::unique_ptr<Slot[]> slots_;
  std::vector<char> lane_started_;  // Each by whoever has the lane.
  Promise<void> promise_;
  std::atomic<bool> failed_{false};  // Set under the lock; read anywhere, as a hint.

  absl::Mutex mutex_;
  std::vector<Slot*> free_slots_ ABSL_GUARDED_BY(mutex_);
  std::vector<int> free_lanes_ ABSL_GUARDED_BY(mutex_);  // The last is taken first.
  // Chunk n waits in n modulo the window to be written; null while it does not.
  std::vector<Slot*> ready_ ABSL_GUARDED_BY(mutex_);
  std::int64_t read_ ABSL_GUARDED_BY(mutex_) = 0;     // Chunks ever read.
  std::int64_t placed_ ABSL_GUARDED_BY(mutex_) = 0;   // Of kAny: ever put into `ready_`.
  std::int64_t written_ ABSL_GUARDED_BY(mutex_) = 0;  // Chunks ever taken from `ready_`.
  // Submitted or running. While there is a chunk somewhere, or more to read, there is one.
  int tasks_ ABSL_GUARDED_BY(mutex_) = 0;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;  // A reader is on its way or at work.
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool input_over_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_PIPELINE_CORE_H_
