// The samples of the user guide about fibers, scopes, cancelling and local values; quoted there as
// those of guide_sync_test.cc are.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/async/async_event.h"
#include "scheduler/async/channel.h"
#include "scheduler/async/fiber.h"
#include "scheduler/async/fiber_groups.h"
#include "scheduler/async/local_key.h"
#include "scheduler/async/scope.h"
#include "scheduler/async/weighted_jobs.h"
#include "scheduler/pool/fifo_pool.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GuideFiberTest : public ::testing::Test {
 protected:
  WorkStealingPool pool_{{.name = "compute", .workers = 2}};
};

// ---- Fibers ----

// sample: fiber
CoTask<int> Half(std::vector<int> numbers) {
  int sum = 0;
  for (int number : numbers) sum += number;
  co_return sum;
}

CoTask<int> Sum(std::vector<int> left, std::vector<int> right) {
  const Fiber<int> first = SpawnChild(Half(std::move(left)));
  const Fiber<int> second = SpawnChild(Half(std::move(right)));
  const absl::StatusOr<int>& a = co_await first;
  const absl::StatusOr<int>& b = co_await second;
  if (!a.ok()) co_return a.status();
  if (!b.ok()) co_return b.status();
  co_return *a + *b;
}

TEST_F(GuideFiberTest, AFiberAndItsChildren) {
  const Fiber<int> sum = SpawnFiber(pool_, Sum({1, 2}, {3, 4}));
  EXPECT_EQ(sum.Wait().value(), 10);
}
// end of sample

TEST_F(GuideFiberTest, AFailureFailsTheParent) {
  // sample: fiber-failure
  const Fiber<void> crawl = SpawnFiber(pool_, []() -> CoTask<void> {
    // Nobody looks at this one; its failure is the parent's all the same.
    SpawnChild([] { return absl::NotFoundError("no such page"); }).Ignore();
    co_return;
  });
  EXPECT_EQ(crawl.Wait(), absl::NotFoundError("no such page"));
  // end of sample
}

TEST_F(GuideFiberTest, AProtectedChildFailsAlone) {
  // sample: fiber-protect
  const Fiber<std::string> page = SpawnFiber(pool_, []() -> CoTask<std::string> {
    const Fiber<std::string> cached = SpawnChild(
        []() -> absl::StatusOr<std::string> { return absl::UnavailableError("the cache is down"); },
        {.name = "cache", .protect = true});
    const absl::StatusOr<std::string>& found = co_await cached;
    co_return found.ok() ? *found : "made anew";
  });
  EXPECT_EQ(page.Wait().value(), "made anew");
  // end of sample
}

TEST_F(GuideFiberTest, AChildElsewhere) {
  // sample: fiber-on-another-runner
  FifoPool blocking({.name = "blocking", .threads = 4});
  const Fiber<std::size_t> length = SpawnFiber(pool_, [&]() -> CoTask<std::size_t> {
    const Fiber<std::string> text =
        SpawnChild([] { return std::string("what read() gave"); }, {.on = &blocking});
    const absl::StatusOr<std::string>& read = co_await text;
    co_return read->size();
  });
  EXPECT_EQ(length.Wait().value(), 16u);
  // end of sample
}

TEST_F(GuideFiberTest, ADaemonEndsWithTheOthers) {
  Channel<std::string> log(16);
  // sample: fiber-daemon
  const Fiber<int> served = SpawnFiber(pool_, [&]() -> CoTask<int> {
    const auto write_log = [&]() -> CoTask<void> {
      for (;;) {
        const Future<std::string> next = log.Pop();
        const absl::StatusOr<std::string>& line = co_await next;
        if (!line.ok()) co_return;  // CANCELLED, as soon as the others have ended.
      }
    };
    SpawnChild(write_log, {.daemon = true}).Ignore();
    const Fiber<int> work = SpawnChild([] { return 7; });
    const absl::StatusOr<int>& result = co_await work;
    co_return *result;
  });
  EXPECT_EQ(served.Wait().value(), 7);
  // end of sample
}

// ---- Cancelling ----

TEST_F(GuideFiberTest, CancelATree) {
  AsyncEvent never;
  // sample: fiber-cancel
  const Fiber<void> search = SpawnFiber(pool_, [&]() -> CoTask<absl::Status> {
    SpawnChild([&]() -> CoTask<absl::Status> {
      const Future<void> waiting = never.Wait();
      const absl::Status status = co_await waiting;  // CANCELLED: the cancel ends the wait.
      co_return status;
    }).Ignore();
    while (true) {
      const absl::Status status = co_await Checkpoint();  // Others first; then: go on?
      if (!status.ok()) co_return status;
    }
  });
  search.Cancel();  // All of the tree is told before this returns; it ends a little later.
  EXPECT_TRUE(absl::IsCancelled(search.Wait()));
  // end of sample
}

// sample: check-cancelled
absl::StatusOr<int> CountPrimes(int below) {
  int count = 0;
  for (int n = 2; n < below; ++n) {
    // A plain function asks, too, where it is called by a fiber. It costs next to nothing.
    const absl::Status cancelled = CheckCancelled();
    if (!cancelled.ok()) return cancelled;
    bool prime = true;
    for (int d = 2; prime && d * d <= n; ++d) prime = n % d != 0;
    if (prime) ++count;
  }
  return count;
}
// end of sample

TEST_F(GuideFiberTest, AskInALongLoop) {
  const Fiber<int> primes = SpawnFiber(pool_, [] { return CountPrimes(100); });
  EXPECT_EQ(primes.Wait().value(), 25);
}

// Something that can only be interrupted from outside.
struct Connection {
  AsyncEvent closed;
  void Close() { closed.Set(); }
};

TEST_F(GuideFiberTest, AHookOnCancel) {
  const auto connection = std::make_shared<Connection>();
  AsyncEvent never;
  const Promise<void> began;
  // sample: on-cancel
  const Fiber<void> reading = SpawnFiber(pool_, [&]() -> CoTask<void> {
    const OnCancelGuard close([connection] { connection->Close(); });
    began.Fulfil();
    const Future<void> bytes = never.Wait();
    (void)co_await bytes;
  });
  // end of sample
  EXPECT_EQ(began.future().Wait(), absl::OkStatus());
  reading.Cancel();
  EXPECT_EQ(connection->closed.Wait().Wait(), absl::OkStatus());
  (void)reading.Wait();
}

// ---- Scopes ----

// What a copy is made of here.
struct File {
  std::vector<std::string>* log;
  std::string name;
  void Close() const { log->push_back("close " + name); }
};

// sample: scope
CoTask<absl::Status> Copy(const File& source, const File& target, Channel<int>& blocks) {
  auto copying = Scope::Run([&](Scope& scope) -> CoTask<absl::Status> {
    scope.OnRelease([&] { source.Close(); });  // Once all fibers have ended, whatever happened;
    scope.OnRelease([&] { target.Close(); });  // the last one first.
    scope
        .Spawn([&]() -> CoTask<absl::Status> {
          const Future<void> pushing = blocks.Push(1);
          const absl::Status pushed = co_await pushing;
          blocks.Close();
          co_return pushed;
        })
        .Ignore();
    const Fiber<int> writer = scope.Spawn([&]() -> CoTask<int> {
      const Future<int> popping = blocks.Pop();
      const absl::StatusOr<int>& block = co_await popping;
      co_return block;
    });
    const absl::StatusOr<int>& written = co_await writer;
    co_return written.status();
  });
  const absl::Status copied = co_await copying;  // Nothing of it runs on behind this line.
  co_return copied;
}
// end of sample

TEST_F(GuideFiberTest, AScope) {
  std::vector<std::string> log;
  Channel<int> blocks(1);
  const File source{&log, "source"};
  const File target{&log, "target"};
  EXPECT_EQ(Spawn(pool_, Copy(source, target, blocks)).Wait(), absl::OkStatus());
  EXPECT_THAT(log, ElementsAre("close target", "close source"));
}

TEST_F(GuideFiberTest, AProtectedSection) {
  std::vector<std::string> log;
  const Promise<void> began;
  AsyncEvent written;
  // sample: scope-shielded
  const auto save = [&]() -> CoTask<absl::Status> {
    auto saving = Scope::RunShielded([&](Scope&) -> CoTask<absl::Status> {
      began.Fulfil();
      const Future<void> writing = written.Wait();
      const absl::Status status = co_await writing;  // A cancel from outside does not get here.
      log.push_back("saved");
      co_return status;
    });
    const absl::Status saved = co_await saving;
    if (!saved.ok()) co_return saved;
    co_return CheckCancelled();  // Here it does.
  };
  // end of sample
  const Fiber<void> fiber = SpawnFiber(pool_, save);
  EXPECT_EQ(began.future().Wait(), absl::OkStatus());
  fiber.Cancel();
  written.Set();
  EXPECT_TRUE(absl::IsCancelled(fiber.Wait()));
  EXPECT_THAT(log, ElementsAre("saved"));
}

TEST_F(GuideFiberTest, CleanUpThatWaits) {
  // sample: scope-cleanup
  const auto transaction = []() -> CoTask<absl::Status> {
    auto working = Scope::Run(
        [](Scope&) -> CoTask<absl::Status> { co_return absl::AbortedError("a conflict"); });
    const absl::Status worked = co_await working;
    if (worked.ok()) co_return worked;
    auto undoing = Scope::RunShielded([](Scope&) -> CoTask<absl::Status> {
      co_await Yield();  // May wait for what it likes.
      co_return absl::OkStatus();
    });
    const absl::Status undone = co_await undoing;
    co_return undone.ok() ? worked : undone;
  };
  // end of sample
  EXPECT_TRUE(absl::IsAborted(SpawnFiber(pool_, transaction).Wait()));
}

// ---- Groups ----

CoTask<std::string> Fetch(std::string page) {
  co_await Yield();
  if (page.empty()) co_return absl::InvalidArgumentError("no name");
  co_return absl::StrCat("<", page, ">");
}

TEST_F(GuideFiberTest, Groups) {
  const Future<void> done = Spawn(pool_, []() -> CoTask<void> {
    // sample: groups
    auto fetch = [](std::string page) { return [page] { return Fetch(page); }; };

    auto all = AllOf(std::vector{fetch("a"), fetch("b")});
    const absl::StatusOr<std::vector<std::string>> pages = co_await all;
    EXPECT_THAT(*pages, ElementsAre("<a>", "<b>"));

    auto fastest = FirstOf(std::vector{fetch(""), fetch("b")});  // AnyOf(): an error counts, too.
    const absl::StatusOr<std::string> page = co_await fastest;
    EXPECT_EQ(*page, "<b>");

    auto some = MaxInFlight(2, std::vector<std::string>{"a", "b", "c"}, Fetch);
    const absl::StatusOr<std::vector<std::string>> three = co_await some;
    EXPECT_THAT(*three, ElementsAre("<a>", "<b>", "<c>"));

    auto both = BothOf(fetch("a"), [] { return 2; });
    const absl::StatusOr<std::pair<std::string, int>> pair = co_await both;
    EXPECT_EQ(pair->second, 2);
    // end of sample
  });
  EXPECT_EQ(done.Wait(), absl::OkStatus());
}

TEST_F(GuideFiberTest, Weights) {
  // sample: weights
  WeightedJobs memory(1000);  // Megabytes.
  const Fiber<int> index = SpawnFiber(pool_, memory.Job(700, [] { return 1; }));
  const Fiber<int> merge = SpawnFiber(pool_, memory.Job(400, [] { return 2; }));  // Not both.
  EXPECT_EQ(index.Wait().value() + merge.Wait().value(), 3);
  // end of sample
}

// ---- Local values ----

// sample: local
const LocalKey<std::string> kRequest;  // Static, as a thread-local would be.

std::string Line(absl::string_view text) {
  return absl::StrCat("[", kRequest.GetOr("no request"), "] ", text);
}

CoTask<std::string> Serve() {
  co_await Yield();  // Perhaps on another thread from here on; the values come along,
  const Fiber<std::string> child = SpawnChild([] { return Line("from a child"); });
  const absl::StatusOr<std::string>& line = co_await child;  // and children inherit them.
  co_return line;
}

TEST_F(GuideFiberTest, LocalValues) {
  const Fiber<std::string> served =
      kRequest.With("r-17", [&] { return SpawnFiber(pool_, Serve()); });
  EXPECT_EQ(served.Wait().value(), "[r-17] from a child");
  EXPECT_EQ(Line("here"), "[no request] here");
}
// end of sample

TEST_F(GuideFiberTest, LocalValuesInACoroutine) {
  // sample: local-in-a-coroutine
  const auto serve = []() -> CoTask<std::string> {
    kRequest.Set("r-18");  // For the rest of this fiber, and for what it spawns from here on.
    auto nested = kRequest.With("r-18.1", []() -> CoTask<std::string> {
      co_await Yield();
      co_return Line("nested");
    });
    const absl::StatusOr<std::string> line = co_await nested;
    co_return absl::StrCat(*line, ", ", Line("after"));
  };
  EXPECT_EQ(SpawnFiber(pool_, serve).Wait().value(), "[r-18.1] nested, [r-18] after");
  // end of sample
}

// ---- Debugging ----

TEST_F(GuideFiberTest, ShowATree) {
  AsyncEvent ready;
  const Promise<void> began;
  // sample: dump-tree
  const Fiber<void> root = SpawnFiber(pool_,
                                      [&]() -> CoTask<void> {
                                        const Fiber<void> child = SpawnChild(
                                            [&]() -> CoTask<void> {
                                              const Future<void> waiting = ready.Wait();
                                              (void)co_await waiting;
                                            },
                                            {.name = "loader"});
                                        began.Fulfil();
                                        (void)co_await child;
                                      },
                                      {.name = "server"});
  // #1 "server": waits for #2
  //   #2 "loader": waits for a future
  const std::string tree = root.DumpTree();
  // end of sample
  EXPECT_EQ(began.future().Wait(), absl::OkStatus());
  EXPECT_THAT(tree, HasSubstr("\"server\""));
  EXPECT_THAT(root.DumpTree(), HasSubstr("\"loader\""));
  ready.Set();
  EXPECT_EQ(root.Wait(), absl::OkStatus());
}

TEST_F(GuideFiberTest, FindWhomNobodyAwaited) {
  std::vector<std::string> reports;
  // sample: unawaited
  const Fiber<int> root =
      SpawnFiber(pool_,
                 []() -> CoTask<int> {
                   const Fiber<int> forgotten = SpawnChild([] { return 1; }, {.name = "forgotten"});
                   co_return 2;
                 },
                 {.on_unawaited = [&](absl::string_view report) { reports.emplace_back(report); }});
  EXPECT_EQ(root.Wait().value(), 2);
  EXPECT_THAT(reports[0], HasSubstr("ended, and nobody awaited 1 child: #"));
  // AbortOnUnawaited() in place of such a hook ends the program, with the same words.
  // end of sample
}

}  // namespace
}  // namespace jackdaw
