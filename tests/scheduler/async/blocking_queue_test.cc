// BlockingQueue: method by method, and between threads with an exactly-once oracle: each value
// whose push succeeded comes out once, whatever is closed when.

#include "scheduler/async/blocking_queue.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/base/random.h"

namespace jackdaw {
namespace {

TEST(BlockingQueueTest, GivesValuesInTheOrderOfThePushes) {
  BlockingQueue<int> queue(3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.Push(i));
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_EQ(queue.limit(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.Pop(), i);
}

TEST(BlockingQueueTest, AttemptsTellFullEmptyAndClosedApart) {
  BlockingQueue<std::string> queue(1);
  std::optional<std::string> out;
  EXPECT_EQ(queue.TryPop(out), Attempt::kWouldWait);
  std::string in = "first";
  EXPECT_EQ(queue.TryPush(in), Attempt::kDone);
  in = "second";
  EXPECT_EQ(queue.TryPush(in), Attempt::kWouldWait);
  EXPECT_EQ(in, "second");
  queue.Close();
  EXPECT_EQ(queue.TryPush(in), Attempt::kClosed);
  EXPECT_EQ(queue.TryPop(out), Attempt::kDone);
  EXPECT_EQ(out, "first");
  EXPECT_EQ(queue.TryPop(out), Attempt::kClosed);
}

TEST(BlockingQueueTest, TransferMovesAllThereIs) {
  BlockingQueue<std::unique_ptr<int>> queue(8);
  std::deque<std::unique_ptr<int>> batch;
  batch.push_back(std::make_unique<int>(0));
  for (int i = 1; i < 4; ++i) EXPECT_TRUE(queue.Push(std::make_unique<int>(i)));
  EXPECT_EQ(queue.Transfer(batch), 3u);
  ASSERT_EQ(batch.size(), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(*batch[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(queue.size(), 0u);
}

TEST(BlockingQueueTest, ClosedGivesWhatIsLeftAndThenNothing) {
  BlockingQueue<int> queue(4);
  EXPECT_TRUE(queue.Push(1));
  EXPECT_TRUE(queue.Push(2));
  queue.Close();
  queue.Close();
  EXPECT_TRUE(queue.is_closed());
  EXPECT_FALSE(queue.Push(3));
  EXPECT_EQ(queue.Pop(), 1);
  std::deque<int> batch;
  EXPECT_EQ(queue.Transfer(batch), 1u);
  EXPECT_EQ(queue.Transfer(batch), 0u);
  EXPECT_EQ(queue.Pop(), std::nullopt);
}

TEST(BlockingQueueTest, APushBlocksUntilThereIsRoom) {
  BlockingQueue<int> queue(1);
  EXPECT_TRUE(queue.Push(0));
  std::thread producer([&] {
    for (int i = 1; i <= 1000; ++i) EXPECT_TRUE(queue.Push(i));
  });
  for (int i = 0; i <= 1000; ++i) {
    EXPECT_LE(queue.size(), 1u);
    EXPECT_EQ(queue.Pop(), i);
  }
  producer.join();
}

TEST(BlockingQueueTest, ClosingFreesThoseWhoBlock) {
  BlockingQueue<int> full(1);
  BlockingQueue<int> empty(1);
  EXPECT_TRUE(full.Push(1));
  std::vector<std::thread> blocked;
  blocked.emplace_back([&] { EXPECT_FALSE(full.Push(2)); });
  blocked.emplace_back([&] { EXPECT_EQ(empty.Pop(), std::nullopt); });
  blocked.emplace_back([&] {
    std::deque<int> batch;
    EXPECT_EQ(empty.Transfer(batch), 0u);
  });
  full.Close();
  empty.Close();
  for (std::thread& thread : blocked) thread.join();
}

// Producers push numbers of their own, consumers take them by every method, and the producer
// of a random number closes the queue.
TEST(BlockingQueueStressTest, EachValueThatWentInComesOutOnce) {
  constexpr int kThreads = 3;
  constexpr int kEach = 2000;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    BlockingQueue<int> queue(7);
    std::vector<std::atomic<int>> in(kThreads * kEach);
    std::vector<std::atomic<int>> out(kThreads * kEach);
    Random random(seed);
    const int last = static_cast<int>(random.Below(kThreads * kEach));
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = t * kEach; i < (t + 1) * kEach; ++i) {
          if (!queue.Push(i)) return;
          in[static_cast<std::size_t>(i)].fetch_add(1);
          if (i == last) queue.Close();
        }
      });
      threads.emplace_back([&, t] {
        std::deque<int> batch;
        for (;;) {
          if (t == 0) {
            if (queue.Transfer(batch) == 0) return;
          } else {
            const std::optional<int> value = queue.Pop();
            if (!value) return;
            batch.push_back(*value);
          }
          for (const int value : batch) out[static_cast<std::size_t>(value)].fetch_add(1);
          batch.clear();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(in[i].load(), out[i].load()) << i;
  }
}

}  // namespace
}  // namespace jackdaw
