// Random trees of fibers and scopes: some fail, some are protected, daemons or shielded, all
// await random things; two threads cancel random ones of them meanwhile, and the pool may be shut
// down under them. Oracle, checked at each end and once more when all is over:
//
//   - each fiber runs at most once, resolves exactly once, and after all its children;
//   - a hook on a cancel is called at most once, never after its fiber has resolved, and for
//     certain where the body has seen the cancel; releases of a scope are called exactly once,
//     newest first, after its fibers, and while the coroutine that they refer to lives;
//   - a cancel reaches all below it but what is shielded; a failure reaches the parent unless
//     protected, and a parent without any failure has none;
//   - every frame, capture, hook and value dies.
//
// Does not see: which of two things that race should have come first. The order of what one
// thread does is in fiber_test.cc and scope_test.cc.

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "scheduler/async/fiber.h"
#include "scheduler/async/scope.h"
#include "scheduler/base/random.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw {
namespace {

constexpr int kDepth = 4;
constexpr int kGates = 8;
constexpr std::uint64_t kMostSteps = 8;
constexpr std::uint64_t kRootSteps = 40;

class Counted {
 public:
  explicit Counted(std::atomic<int>& alive) : alive_(&alive) { ++*alive_; }
  Counted(const Counted& other) : alive_(other.alive_) { ++*alive_; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*alive_; }

 private:
  std::atomic<int>* alive_;
};

struct Node;

// Where in the tree a fiber is. Not changed once it has been spawned.
struct Place {
  Node* parent = nullptr;
  bool in_scope = false;
  bool shielded = false;  // By that scope.
};

// One fiber, and what is known of it.
struct Node {
  Place place;
  bool protect = false;
  Fiber<int> fiber;  // Written before anybody else knows of this.
  std::atomic<int> bodies{0};
  std::atomic<int> resolved{0};
  std::atomic<int> hooks{0};
  std::atomic<int> hook_calls{0};
  std::atomic<int> hook_calls_when_resolved{0};
  std::atomic<bool> saw_cancel{false};
  std::atomic<bool> failed_itself{false};

  // A result that counts as a failure.
  [[nodiscard]] bool Failed() const {
    const absl::Status& status = fiber.Peek()->status();
    return !status.ok() && !absl::IsCancelled(status);
  }
};

// What all of one tree share.
class World {
 public:
  explicit World(Runner& runner) : runner_(runner), gates_(kGates) {}

  [[nodiscard]] Runner& runner() const { return runner_; }
  [[nodiscard]] std::atomic<int>& alive() { return alive_; }
  [[nodiscard]] Future<void> Gate(std::uint64_t random) const {
    return gates_[random % kGates].future();
  }
  void Open(std::uint64_t random) const { gates_[random % kGates].TryFulfil(absl::OkStatus()); }
  void OpenAll() const {
    for (const Promise<void>& gate : gates_) gate.TryFulfil(absl::OkStatus());
  }

  Node& NewNode() {
    absl::MutexLock lock(&mutex_);
    return nodes_.emplace_back();
  }
  // From here on it may be cancelled.
  void Publish(Node& node) {
    absl::MutexLock lock(&mutex_);
    published_.push_back(&node);
  }
  [[nodiscard]] std::vector<Node*> published() {
    absl::MutexLock lock(&mutex_);
    return published_;
  }
  void Forget() {
    absl::MutexLock lock(&mutex_);
    for (Node& node : nodes_) node.fiber = {};
  }

 private:
  Runner& runner_;
  std::vector<Promise<void>> gates_;
  std::atomic<int> alive_{0};
  absl::Mutex mutex_;
  std::deque<Node> nodes_ ABSL_GUARDED_BY(mutex_);
  std::vector<Node*> published_ ABSL_GUARDED_BY(mutex_);
};

// What a fiber has spawned. It dies after the fiber, and not with its body.
using Children = std::shared_ptr<std::vector<Node*>>;

CoTask<int> RunBody(World& world, Node& node, Children children, std::uint64_t seed, int depth,
                    Counted counted);

// Of the fiber that calls it, which is in no scope.
void AddHook(World& world, Node& node) {
  ++node.hooks;
  ThisFiber::AddOnCancel([&node, counted = Counted(world.alive()), called = false]() mutable {
    EXPECT_FALSE(std::exchange(called, true));
    ++node.hook_calls;
    EXPECT_EQ(node.resolved, 0);
  });
}

// After the fiber has resolved, on the thread that ended it.
void CheckAtEnd(Node& node, const std::vector<Node*>& children) {
  node.hook_calls_when_resolved = node.hook_calls.load();
  for (const Node* child : children) EXPECT_TRUE(child->fiber.is_done());
  ++node.resolved;
}

// Makes a fiber by `spawn(body, options)`, and watches over it.
template <typename SpawnFunction>
Node& Start(World& world, Place place, Random& random, int depth, SpawnFunction spawn) {
  Node& node = world.NewNode();
  node.place = place;
  node.protect = random.Below(2) == 0;
  const bool daemon = random.Below(8) == 0;
  const auto children = std::make_shared<std::vector<Node*>>();
  auto body = [&world, &node, children, seed = random.Next(), depth,
               counted = Counted(world.alive())] {
    return RunBody(world, node, children, seed, depth, counted);
  };
  node.fiber = spawn(std::move(body), FiberOptions{.protect = node.protect, .daemon = daemon});
  node.fiber.future().OnReady(
      [&node, children](const absl::StatusOr<int>&) { CheckAtEnd(node, *children); });
  return node;
}

// Gives up, fails, throws or succeeds.
absl::StatusOr<int> Finish(Node& node, Random& random) {
  const absl::Status cancelled = CheckCancelled();
  if (!cancelled.ok()) {
    node.saw_cancel = true;
    if (random.Below(2) == 0) return cancelled;
  }
  switch (random.Below(30)) {
    case 0:
      node.failed_itself = true;
      return absl::DataLossError(absl::StrCat("disk ", random.Below(3)));
    case 1:
      node.failed_itself = true;
      throw std::runtime_error("thrown");
    default:
      return 1;
  }
}

// Sees that a scope has ended as it should, also where its coroutine is destroyed.
class ScopeOracle {
 public:
  ~ScopeOracle() {
    EXPECT_EQ(released_, added_);
    for (const Node* child : children_) EXPECT_TRUE(child->fiber.is_done());
  }
  void AddRelease(Scope& scope) {
    scope.OnRelease([this, turn = added_++] {
      for (const Node* child : children_) EXPECT_TRUE(child->fiber.is_done());
      EXPECT_EQ(turn, added_ - ++released_);
    });
  }
  void Add(Node& child) { children_.push_back(&child); }

 private:
  std::vector<Node*> children_;
  int added_ = 0;
  int released_ = 0;
};

// A scope of `node`, with fibers and releases.
CoTask<void> RunScope(World& world, Node& node, Children children, std::uint64_t seed, int depth,
                      bool shield) {
  const Counted counted(world.alive());
  Random random(seed);
  ScopeOracle oracle;
  bool some_failed = false;
  auto body = [&](Scope& scope) -> CoTask<absl::Status> {
    for (std::uint64_t count = random.Below(4); count > 0; --count) {
      Node& child = Start(world, {&node, true, shield}, random, depth - 1,
                          [&](auto made, FiberOptions options) {
                            return scope.Spawn(std::move(made), std::move(options));
                          });
      oracle.Add(child);
      oracle.AddRelease(scope);
      children->push_back(&child);
      world.Publish(child);
      if (random.Below(3) == 0) co_await Yield();
    }
    if (random.Below(3) == 0) {
      const Future<void> gate = world.Gate(random.Next());
      (void)co_await gate;
    }
    if (random.Below(6) == 0) scope.Cancel();
    if (random.Below(6) == 0) {
      some_failed = true;
      scope.Fail(absl::DataLossError("scope"));
    }
    co_return absl::OkStatus();
  };
  auto run = shield ? Scope::RunShielded(body) : Scope::Run(body);
  const absl::Status status = co_await run;
  EXPECT_FALSE(some_failed && status.ok());
}

// One thing that a fiber may do.
CoTask<void> RunStep(World& world, Node& node, const Children& children, Random& random,
                     int depth) {
  switch (random.Below(8)) {
    case 0:
    case 1: {
      Node& child = Start(world, {&node}, random, depth - 1, [](auto body, FiberOptions options) {
        return SpawnChild(std::move(body), std::move(options));
      });
      children->push_back(&child);
      world.Publish(child);
      break;
    }
    case 2: {
      const Future<void> gate = world.Gate(random.Next());
      (void)co_await gate;
      break;
    }
    case 3:
      co_await Yield();
      break;
    case 4:
      if (!children->empty()) {
        const Fiber<int> child = children->back()->fiber;
        (void)co_await child;
      }
      break;
    case 5:
      AddHook(world, node);
      break;
    case 6: {
      auto run = RunScope(world, node, children, random.Next(), depth, random.Below(3) == 0);
      (void)co_await run;
      break;
    }
    default:
      (void)co_await Checkpoint();
      break;
  }
}

CoTask<int> RunBody(World& world, Node& node, Children children, std::uint64_t seed, int depth,
                    Counted counted) {
  const Counted local = counted;
  ++node.bodies;
  Random random(seed);
  const std::uint64_t steps = node.place.parent == nullptr ? kRootSteps : random.Below(kMostSteps);
  for (std::uint64_t step = steps; depth > 0 && step > 0; --step) {
    auto run = RunStep(world, node, children, random, depth);
    (void)co_await run;
  }
  co_return Finish(node, random);
}

// ---- what must hold when all is over ----

void CheckResult(const Node& node, const std::vector<Node*>& nodes) {
  bool child_failed = false;
  for (const Node* child : nodes) {
    if (child->place.parent != &node || child->place.in_scope || child->protect) continue;
    child_failed = child_failed || child->Failed();
  }
  EXPECT_TRUE(node.fiber.is_failed() || !(child_failed || node.failed_itself));
  if (node.Failed() && !absl::IsUnavailable(node.fiber.Peek()->status())) {
    EXPECT_TRUE(child_failed || node.failed_itself) << node.fiber.Peek()->status();
    EXPECT_TRUE(node.fiber.is_cancelled());
  }
}

void CheckNode(const Node& node) {
  ASSERT_TRUE(node.fiber.is_done());
  EXPECT_LE(node.bodies, 1);
  EXPECT_EQ(node.resolved, 1);
  EXPECT_EQ(node.hook_calls, node.hook_calls_when_resolved);
  EXPECT_EQ(node.hook_calls, node.hook_calls == 0 && !node.saw_cancel ? 0 : node.hooks.load());
}

// Cancels `node`, and waits until that has reached all that were below it.
void CancelAndCheck(const Node& node, const std::vector<Node*>& nodes) {
  node.fiber.Cancel();
  for (const Node* other : nodes) {
    bool reached = true;
    const Node* above = other;
    for (; above != nullptr && above != &node; above = above->place.parent) {
      reached = reached && !above->place.shielded;
    }
    if (above == nullptr || !reached) continue;
    // Another thread may have begun the same cancel, and be about to get there.
    while (!other->fiber.is_done() && !other->fiber.is_cancelled()) std::this_thread::yield();
  }
}

// How the pool ends: when all has, or under it.
enum class End { kLast, kDrain, kCancel };

class FiberTreeTest : public ::testing::TestWithParam<std::tuple<int, End>> {
 protected:
  void Round(std::uint64_t seed) {
    Random random(seed);
    WorkStealingPool pool({.name = "test", .workers = std::get<0>(GetParam())});
    World world(pool);
    Node& root = Start(world, {}, random, kDepth,
                       [&](auto body, FiberOptions) { return SpawnFiber(pool, std::move(body)); });
    world.Publish(root);
    std::optional<std::thread> other;
    if (pool.size() > 0) {
      other.emplace([&world, random = Random(random.Next())]() mutable {
        for (int i = 0; i < 20; ++i) Meddle(world, random);
      });
    }
    for (std::uint64_t i = random.Below(pool.size() == 0 ? 300 : 60); i > 0; --i) {
      if (pool.size() > 0 || !pool.RunOne()) Meddle(world, random);
      if (random.Below(10) == 0) Meddle(world, random);
    }
    const End end = std::get<1>(GetParam());
    if (end == End::kDrain) pool.ShutdownAndWait(ShutdownMode::kDrain);
    if (end == End::kCancel) pool.ShutdownAndWait(ShutdownMode::kCancel);
    world.OpenAll();
    if (pool.size() == 0) pool.RunUntilIdle();
    if (other) other->join();
    ASSERT_TRUE(pool.size() > 0 || root.fiber.is_done());
    (void)root.fiber.Wait();
    // Callbacks may still be running on the workers.
    pool.ShutdownAndWait(ShutdownMode::kDrain);
    Check(world);
  }

  static void Meddle(World& world, Random& random) {
    const std::vector<Node*> nodes = world.published();
    if (random.Below(3) == 0) {
      // Rarely the root, after which nothing new begins.
      const std::uint64_t which = random.Below(nodes.size());
      if (which > 0 || random.Below(20) == 0) CancelAndCheck(*nodes[which], nodes);
    } else {
      world.Open(random.Next());
    }
    std::this_thread::yield();
  }

  void Check(World& world) {
    const std::vector<Node*> nodes = world.published();
    fibers_ += nodes.size();
    for (const Node* node : nodes) {
      CheckNode(*node);
      CheckResult(*node, nodes);
    }
    world.Forget();
    EXPECT_EQ(world.alive(), 0);
  }
  std::size_t fibers_ = 0;
};

TEST_P(FiberTreeTest, EveryFiberResolvesOnceAfterItsChildrenAndNothingLeaks) {
  for (std::uint64_t seed = 1; seed <= 200 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Round(seed);
  }
  EXPECT_GT(fibers_, 1000u) << "the trees are too small to show anything";
}

INSTANTIATE_TEST_SUITE_P(Pools, FiberTreeTest,
                         ::testing::Combine(::testing::Values(0, 1, 2, 8),
                                            ::testing::Values(End::kLast, End::kDrain,
                                                              End::kCancel)));

}  // namespace
}  // namespace jackdaw
