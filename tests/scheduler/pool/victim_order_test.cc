#include "scheduler/pool/victim_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "scheduler/pool/topology.h"

namespace jackdaw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// All victims of one sweep, in their order.
std::vector<int> WholeSweep(VictimOrder& order, Random& random) {
  std::vector<int> visited;
  EXPECT_FALSE(order.Sweep(random, [&](int worker) {
    visited.push_back(worker);
    return false;
  }));
  return visited;
}

// How far each of `workers` workers, placed on `topology`, is from worker `self`.
std::vector<int> Distances(const Topology& topology, int workers, int self) {
  const std::vector<int> nodes = topology.Place(workers);
  std::vector<int> distances;
  for (const int node : nodes) {
    distances.push_back(topology.distance(nodes[static_cast<std::size_t>(self)], node));
  }
  return distances;
}

TEST(VictimOrderTest, AloneThereIsNobodyToRob) {
  const std::vector<int> distances = {10};
  VictimOrder order(0, distances);
  Random random(1);
  EXPECT_THAT(WholeSweep(order, random), IsEmpty());
}

TEST(VictimOrderTest, EverySweepVisitsEachOtherWorkerOnce) {
  const std::vector<int> distances = {10, 10, 20, 20, 40};
  VictimOrder order(2, distances);
  Random random(7);
  for (int sweep = 0; sweep < 100; ++sweep) {
    ASSERT_THAT(WholeSweep(order, random), UnorderedElementsAre(0, 1, 3, 4));
  }
}

TEST(VictimOrderTest, StopsWhereItIsToldTo) {
  const std::vector<int> distances(8, 10);
  VictimOrder order(0, distances);
  Random random(3);
  int visits = 0;
  EXPECT_TRUE(order.Sweep(random, [&](int) { return ++visits == 3; }));
  EXPECT_EQ(visits, 3);
  // A sweep that was cut short does not cost anybody its place in the next.
  EXPECT_THAT(WholeSweep(order, random), UnorderedElementsAre(1, 2, 3, 4, 5, 6, 7));
}

TEST(VictimOrderTest, EqualVictimsComeFirstEquallyOften) {
  const std::vector<int> distances(4, 10);
  VictimOrder order(0, distances);
  Random random(11);
  std::map<int, int> first;
  constexpr int kSweeps = 30'000;
  for (int i = 0; i < kSweeps; ++i) ++first[WholeSweep(order, random)[0]];
  for (const int worker : {1, 2, 3}) {
    EXPECT_NEAR(first[worker], kSweeps / 3, kSweeps / 50) << "worker " << worker;
  }
}

TEST(VictimOrderTest, TwoNodesTheOwnOneComesFirstButForEveryFourthSweep) {
  const auto topology = Topology::Synthetic("node:2 pu:4");
  ASSERT_TRUE(topology.ok()) << topology.status();
  VictimOrder order(5, Distances(*topology, 8, 5));
  Random random(5);
  int far_first = 0;
  for (std::uint32_t sweep = 1; sweep <= 400; ++sweep) {
    const std::vector<int> visited = WholeSweep(order, random);
    ASSERT_THAT(visited, UnorderedElementsAre(0, 1, 2, 3, 4, 6, 7));
    if (sweep % VictimOrder::kUniformSweep == 0) {
      far_first += visited[0] < 4 ? 1 : 0;
      continue;
    }
    const std::vector<int> near(visited.begin(), visited.begin() + 3);
    ASSERT_THAT(near, UnorderedElementsAre(4, 6, 7)) << "sweep " << sweep;
  }
  // Four of the seven victims are far: so are about four sevenths of the first ones.
  EXPECT_NEAR(far_first, 100 * 4 / 7, 25);
}

TEST(VictimOrderTest, EightNodesThePackageComesBeforeTheOtherPackage) {
  const auto topology = Topology::Synthetic("package:2 node:4 pu:1");
  ASSERT_TRUE(topology.ok()) << topology.status();
  VictimOrder order(1, Distances(*topology, 8, 1));
  Random random(9);
  const std::vector<int> visited = WholeSweep(order, random);
  EXPECT_THAT(std::vector<int>(visited.begin(), visited.begin() + 3),
              UnorderedElementsAre(0, 2, 3));
  EXPECT_THAT(std::vector<int>(visited.begin() + 3, visited.end()),
              UnorderedElementsAre(4, 5, 6, 7));
}

}  // namespace
}  // namespace jackdaw
