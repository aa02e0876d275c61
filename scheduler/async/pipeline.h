// Pipeline: reads items one after another, works on many at once, writes the results one after
// another, in the order of reading if wished; with bounded memory.
//
//   absl::Status status = RunPipeline(
//       pool,
//       [&]() -> std::optional<std::string> { return NextLine(input); },
//       [](std::string line) { return Compress(line); },
//       [&](std::string packed) { output << packed; });
//
// Back-pressure: at most PipelineOptions::window chunks are between read and written; when the
// work or the writing is slow, nothing is read.
//
// Thread safety: `read` is called by one thread at a time, `write` too, each seeing what its
// last call did; `work` by several at once. The three may overlap.
//
// Errors: each function may return its error or throw, which is UNKNOWN. After the first one
// nothing begins, what runs is waited for, and the pipeline gives that error. With kKept, what
// was written is a beginning of what was read. CANCELLED where its future was asked to be, or
// where the pool drops it; UNAVAILABLE where the pool has been shut down.

#ifndef JACKDAW_SCHEDULER_ASYNC_PIPELINE_H_
#define JACKDAW_SCHEDULER_ASYNC_PIPELINE_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/async/future.h"
#include "scheduler/async/future_result.h"
#include "scheduler/async/pipeline_core.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {
namespace async_internal {

// The lane, too, where `work` takes it.
template <typename Work, typename In>
decltype(auto) CallWork(Work& work, In&& in, [[maybe_unused]] int lane) {
  if constexpr (std::is_invocable_v<Work&, In, int>) {
    return work(std::forward<In>(in), lane);
  } else {
    return work(std::forward<In>(in));
  }
}

template <typename Read, typename Work, typename Write>
class PipelineOf final : public PipelineCore {
 public:
  PipelineOf(Runner& runner, PipelineOptions options, Read read, Work work, Write write)
      : PipelineCore(runner, std::move(options)),
        read_(std::move(read)),
        work_(std::move(work)),
        write_(std::move(write)),
        chunks_(static_cast<std::size_t>(window())) {}

 private:
  using In = typename ResultValue<std::invoke_result_t<Read&>>::value_type;

  using Out = ResultValue<decltype(CallWork(std::declval<Work&>(), std::declval<In>(), 0))>;

  struct Chunk {
    std::vector<In> in;
    std::vector<Out> out;
  };

  absl::StatusOr<bool> ReadChunk(int slot) override {
    Chunk& chunk = ChunkAt(slot);
    chunk.in.clear();
    const auto wanted = static_cast<std::size_t>(std::max(1, options().chunk));
    while (!over_ && chunk.in.size() < wanted) {
      absl::StatusOr<std::optional<In>> item = CallForResult(read_);
      if (!item.ok()) return item.status();
      over_ = !item->has_value();
      if (!over_) chunk.in.push_back(**std::move(item));
    }
    return !chunk.in.empty();
  }

  absl::Status WorkOnChunk(int slot, int lane) override {
    Chunk& chunk = ChunkAt(slot);
    chunk.out.clear();
    for (In& item : chunk.in) {
      if (failed()) return absl::OkStatus();
      absl::StatusOr<Out> result = CallForResult(
          [&]() -> absl::StatusOr<Out> { return CallWork(work_, std::move(item), lane); });
      if (!result.ok()) return std::move(result).status();
      chunk.out.push_back(*std::move(result));
    }
    return absl::OkStatus();
  }

  absl::Status WriteChunk(int slot) override {
    for (Out& result : ChunkAt(slot).out) {
      const auto written = CallForResult(write_, std::move(result));
      if (!StatusOf(written).ok()) return StatusOf(written);
    }
    return absl::OkStatus();
  }

  Chunk& ChunkAt(int slot) { return chunks_[static_cast<std::size_t>(slot)]; }

  Read read_;
  Work work_;
  Write write_;
  bool over_ = false;  // `read_` has given its last item; the reader's.
  std::vector<Chunk> chunks_;
};

}  // namespace async_internal

// Starts a pipeline on `runner` and returns the future of its end. What the functions refer to
// must live until then.
//   read    () -> std::optional<In>, or StatusOr of it; without a value at the end of the input.
//   work    (In) or (In, int lane) -> Out or StatusOr<Out>; see PipelineOptions for lanes.
//   write   (Out) -> void or Status.
template <typename Read, typename Work, typename Write>
Future<void> StartPipeline(Runner& runner, Read read, Work work, Write write,
                           PipelineOptions options = {}) {
  return (new async_internal::PipelineOf<Read, Work, Write>(
              runner, std::move(options), std::move(read), std::move(work), std::move(write)))
      ->Start();
}

// The same, and blocks until it has ended. On a worker of `runner`, which must not block, and on
// one without threads all of it runs on the caller, one chunk after another; there
// StartPipeline() and co_await its future to have it run at once.
template <typename Read, typename Work, typename Write>
absl::Status RunPipeline(Runner& runner, Read read, Work work, Write write,
                         PipelineOptions options = {}) {
  if (Runner::Current() != &runner && runner.size() > 0) {
    return StartPipeline(runner, std::move(read), std::move(work), std::move(write),
                         std::move(options))
        .Wait();
  }
  async_internal::PipelineOf<Read, Work, Write> here(runner, std::move(options), std::move(read),
                                                     std::move(work), std::move(write));
  return here.RunHere();
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_PIPELINE_H_
