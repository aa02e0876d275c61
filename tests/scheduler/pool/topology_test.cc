#include "scheduler/pool/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace jackdaw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TopologyTest, TwoNodesAreFarFromEachOtherAndNearThemselves) {
  const auto topology = Topology::Synthetic("node:2 pu:4");
  ASSERT_TRUE(topology.ok()) << topology.status();
  ASSERT_EQ(topology->node_count(), 2);
  EXPECT_THAT(topology->cpus(0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(topology->cpus(1), ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(topology->distance(0, 0), Topology::kLocalDistance);
  EXPECT_EQ(topology->distance(1, 1), Topology::kLocalDistance);
  EXPECT_GT(topology->distance(0, 1), Topology::kLocalDistance);
  EXPECT_EQ(topology->distance(0, 1), topology->distance(1, 0));
}

TEST(TopologyTest, EightNodesInTwoPackagesAreNearerWithinAPackage) {
  const auto topology = Topology::Synthetic("package:2 node:4 pu:2");
  ASSERT_TRUE(topology.ok()) << topology.status();
  ASSERT_EQ(topology->node_count(), 8);
  for (int from = 0; from < 8; ++from) {
    for (int to = 0; to < 8; ++to) {
      if (from == to) continue;
      const bool same_package = from / 4 == to / 4;
      EXPECT_EQ(topology->distance(from, to) < topology->distance(0, 7), same_package)
          << from << " to " << to;
      EXPECT_GT(topology->distance(from, to), Topology::kLocalDistance);
    }
  }
}

TEST(TopologyTest, WorkersAreSpreadByCpusNeighboursTogether) {
  const auto topology = Topology::Synthetic("node:2 pu:4");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_THAT(topology->Place(8), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_THAT(topology->Place(4), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(topology->Place(3), ElementsAre(0, 0, 1));
  EXPECT_THAT(topology->Place(1), ElementsAre(0));
  EXPECT_TRUE(topology->Place(0).empty());
}

TEST(TopologyTest, RefusesADescriptionThatIsNone) {
  const auto topology = Topology::Synthetic("nodes, two");
  EXPECT_EQ(topology.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(topology.status().message()), HasSubstr("\"nodes, two\""));
}

TEST(TopologyTest, ThisMachineHasANodeWhoseCpusAThreadCanBeBoundTo) {
  const auto topology = Topology::System();
  ASSERT_TRUE(topology.ok()) << topology.status();
  ASSERT_GE(topology->node_count(), 1);
  const auto cpus = topology->cpus(0);
  ASSERT_FALSE(cpus.empty());
  std::thread bound([&] {
    ASSERT_TRUE(BindThisThread({cpus[0]}));
    EXPECT_EQ(sched_getcpu(), cpus[0]);
  });
  bound.join();
}

TEST(TopologyTest, BindingToACpuThatDoesNotExistIsRefusedAndHarmless) {
  std::thread thread([] {
    EXPECT_FALSE(BindThisThread({100'000}));
    EXPECT_FALSE(BindThisThread({}));
    EXPECT_GE(sched_getcpu(), 0);
  });
  thread.join();
}

}  // namespace
}  // namespace jackdaw
