#include "scheduler/pool/task.h"

#include <memory>
#include <utility>

#include "gtest/gtest.h"

namespace jackdaw {
namespace {

TEST(MakeTaskTest, RunCallsTheBodyOnceAndFreesIt) {
  int calls = 0;
  const auto held = std::make_shared<int>(1);
  Task* task = MakeTask([&calls, held] { ++calls; });
  EXPECT_EQ(held.use_count(), 2);
  EXPECT_EQ(calls, 0);
  task->Run();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(MakeTaskTest, DropFreesTheBodyUncalled) {
  int calls = 0;
  const auto held = std::make_shared<int>(1);
  Task* task = MakeTask([&calls, held] { ++calls; });
  task->Drop();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(MakeTaskTest, BodyMayBeMoveOnly) {
  int got = 0;
  auto value = std::make_unique<int>(7);
  MakeTask([&got, value = std::move(value)] { got = *value; })->Run();
  EXPECT_EQ(got, 7);
}

TEST(MakeTaskTest, BodyThatIsNamedIsCopiedNotReferred) {
  auto held = std::make_shared<int>(1);
  Task* task;
  {
    const auto body = [held] { *held = 2; };
    task = MakeTask(body);
  }
  task->Run();
  EXPECT_EQ(*held, 2);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(MakeTaskTest, RvalueCallOperatorIsTheOneCalled) {
  struct Once {
    int* calls;
    void operator()() && { ++*calls; }
  };
  int calls = 0;
  MakeTask(Once{&calls})->Run();
  EXPECT_EQ(calls, 1);
}

TEST(TaskTest, IsOneWordWide) { EXPECT_EQ(sizeof(Task), sizeof(void*)); }

}  // namespace
}  // namespace jackdaw
