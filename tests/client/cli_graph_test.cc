// Graphs: drawn as text, made for the benchmark, shown as they run, taken from files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "client/cli/file_job.h"
#include "client/cli/graph_text.h"
#include "client/cli/progress.h"
#include "client/cli/shapes.h"
#include "client/cli/text.h"
#include "client/jobfile/parse.h"

namespace jackdaw::cli {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

Graph TwoNodes() {
  Graph graph;
  graph.name = "a \"b\"";
  graph.nodes.push_back({"x\"y", "", v1::Task::STATE_FAILED, {}});
  graph.nodes.push_back({"z<br>", "sh -c \\", v1::Task::STATE_SKIPPED, {0}});
  return graph;
}

TEST(DotTest, LabelsAreEscapedAndStatesColoured) {
  const std::string dot = ToDot(TwoNodes());
  EXPECT_THAT(dot, HasSubstr("digraph \"a \\\"b\\\"\" {"));
  EXPECT_THAT(dot, HasSubstr("n0 [label=\"x\\\"y\", fillcolor=\"#ef9a9a\", tooltip=\"FAILED\"];"));
  EXPECT_THAT(dot, HasSubstr("n1 [label=\"z<br>\", fillcolor=\"#f5f5f5\", "
                             "tooltip=\"sh -c \\\\: SKIPPED\"];"));
  EXPECT_THAT(dot, HasSubstr("  n0 -> n1;\n}\n"));
}

TEST(MermaidTest, LabelsAreEscapedAndStatesColoured) {
  EXPECT_EQ(ToMermaid(TwoNodes()),
            "flowchart LR\n"
            "  n0[\"x#34;y\"]\n"
            "  n1[\"z#60;br#62;\"]\n"
            "  n0 --> n1\n"
            "  classDef failed fill:#ef9a9a,color:#000\n"
            "  class n0 failed\n"
            "  classDef skipped fill:#f5f5f5,color:#000\n"
            "  class n1 skipped\n");
}

// The dependencies of each task, from the columns.
std::vector<std::vector<std::int32_t>> Edges(const v1::Job& job) {
  const v1::TaskArray& array = job.task_arrays(0);
  std::vector<std::vector<std::int32_t>> edges(static_cast<std::size_t>(array.count()));
  int next = 0;
  for (int i = 0; i < array.dependency_counts_size(); ++i) {
    for (int k = 0; k < array.dependency_counts(i); ++k) {
      edges[static_cast<std::size_t>(i)].push_back(array.dependency_indices(next++));
    }
  }
  EXPECT_EQ(next, array.dependency_indices_size());
  return edges;
}

class ShapeTest : public ::testing::TestWithParam<std::pair<std::string, Shape>> {};

TEST_P(ShapeTest, HasTheTasksAskedForAndNoCycle) {
  for (const std::int64_t tasks : {1, 2, 3, 17, 1000, 4097}) {
    const v1::Job job = MakeShape(GetParam().second, tasks, "noop").Take();
    ASSERT_THAT(job.tasks(), IsEmpty());
    ASSERT_THAT(job.task_arrays(), SizeIs(1));
    ASSERT_EQ(job.task_arrays(0).count(), tasks);
    EXPECT_EQ(job.task_arrays(0).prototype().function().name(), "noop");
    const auto edges = Edges(job);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      // Only earlier tasks: no cycle. Each once.
      for (const std::int32_t before : edges[i]) {
        EXPECT_GE(before, 0);
        EXPECT_LT(before, static_cast<std::int32_t>(i));
      }
      EXPECT_EQ(std::set<std::int32_t>(edges[i].begin(), edges[i].end()).size(), edges[i].size());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShapeTest, ::testing::ValuesIn(ShapeNames()),
                         [](const auto& i) { return i.param.first; });

std::size_t CountEdges(Shape shape, std::int64_t tasks) {
  std::size_t count = 0;
  for (const auto& dependencies : Edges(MakeShape(shape, tasks, "noop").Take())) {
    count += dependencies.size();
  }
  return count;
}

TEST(ShapesTest, EdgesAreThoseOfTheShape) {
  EXPECT_EQ(CountEdges(Shape::kChain, 1000), 999u);
  EXPECT_EQ(CountEdges(Shape::kWide, 1000), 0u);
  EXPECT_EQ(CountEdges(Shape::kTree, 1000), 999u);
  EXPECT_EQ(CountEdges(Shape::kWavefront, 900), 2u * 30 * 29);
  EXPECT_EQ(CountEdges(Shape::kLayered, 900), 4u * (900 - 30)) << "four from the layer before";
  EXPECT_GT(CountEdges(Shape::kRandom, 1000), 1000u);
  EXPECT_EQ(CountEdges(Shape::kRandom, 1000), CountEdges(Shape::kRandom, 1000));
}

TEST(ShapesTest, LayersReachOneLayerBack) {
  const auto edges = Edges(MakeShape(Shape::kLayered, 900, "noop").Take());
  for (std::int32_t i = 0; i < 900; ++i) {
    for (const std::int32_t before : edges[static_cast<std::size_t>(i)]) {
      EXPECT_EQ(before / 30, i / 30 - 1);
    }
  }
}

v1::JobEvent Event(v1::Job::State state, std::vector<std::pair<int, v1::Task::State>> tasks) {
  v1::JobEvent event;
  event.mutable_job()->set_name("jobs/j");
  event.mutable_job()->set_state(state);
  for (const auto& [index, task_state] : tasks) {
    event.add_task_indices(index);
    event.add_task_states(task_state);
  }
  return event;
}

TEST(ProgressTest, TellsEachEndOnceAndWhoRuns) {
  Progress progress("title", {"a", "b"});
  EXPECT_THAT(progress.Apply(Event(v1::Job::STATE_RUNNING,
                                   {{0, v1::Task::STATE_RUNNING}, {2, v1::Task::STATE_RUNNING}})),
              IsEmpty());
  EXPECT_THAT(progress.running(), ElementsAre(0, 2));
  EXPECT_EQ(progress.TaskLabel(0), "a");
  EXPECT_EQ(progress.TaskLabel(2), "2") << "no id is known";
  EXPECT_THAT(progress.Apply(Event(v1::Job::STATE_RUNNING, {{0, v1::Task::STATE_SUCCEEDED}})),
              SizeIs(1));
  EXPECT_THAT(progress.Apply(Event(v1::Job::STATE_RUNNING, {{0, v1::Task::STATE_SUCCEEDED}})),
              IsEmpty());
  EXPECT_THAT(progress.running(), ElementsAre(2));
  v1::JobEvent resync = Event(v1::Job::STATE_RUNNING, {});
  resync.set_resync(true);
  progress.Apply(resync);
  EXPECT_THAT(progress.running(), IsEmpty());
}

TEST(ProgressTest, IndicesThatMakeNoSenseAreIgnored) {
  Progress progress("title", {});
  progress.Apply(Event(v1::Job::STATE_RUNNING,
                       {{-1, v1::Task::STATE_RUNNING}, {INT32_MAX, v1::Task::STATE_RUNNING}}));
  EXPECT_THAT(progress.running(), IsEmpty());
}

TEST(ProgressTest, LinesFitEveryWidth) {
  Progress progress("a job with a rather long title", {"first-task", "second-task", "third"});
  v1::JobEvent event = Event(
      v1::Job::STATE_RUNNING,
      {{0, v1::Task::STATE_RUNNING}, {1, v1::Task::STATE_RUNNING}, {2, v1::Task::STATE_RUNNING}});
  v1::TaskCounts& counts = *event.mutable_job()->mutable_task_counts();
  counts.set_total(10);
  counts.set_running(3);
  counts.set_succeeded(5);
  counts.set_failed(2);
  progress.Apply(event);
  for (int width = 1; width < 150; ++width) {
    std::vector<std::size_t> widths;
    for (const auto& line : RenderProgress(progress, absl::Seconds(1), width, Colour::kNo)) {
      widths.push_back(Width(line));
    }
    EXPECT_THAT(widths, Each(Le(static_cast<std::size_t>(width)))) << width;
  }
  EXPECT_THAT(RenderProgress(progress, absl::Milliseconds(2345), 70, Colour::kNo),
              ElementsAre("RUNNING  a job with a rather long title  jobs/j  2.35 s",
                          "[#########################>          ] 7/10 tasks  3 running, 2 failed",
                          "running: first-task, second-task, third"));
  EXPECT_THAT(RenderProgress(progress, absl::Seconds(1), 40, Colour::kNo)[2],
              "running: first-task and 2 more");
}

TEST(FileJobTest, EveryFieldArrives) {
  const auto file = jobfile::ParseJobFile(R"(
name: n
failure_policy: fail_fast
priority: low
timeout: 3s
labels: {a: b}
tasks:
  - {id: x, function: echo, payload: hi}
  - id: y
    command: [cat]
    stdin: inputs
    env: {V: w}
    workdir: /srv
    after: [x]
    run_if: any_failed
    priority: high
    timeout: 1s
    queue_timeout: 2s
    labels: {c: d}
    runner: compute
    retry: {attempts: 2, initial_backoff: 5ms, max_backoff: 6ms, multiplier: 3, jitter: 0, codes: [ABORTED]}
)",
                                          "f.yaml");
  ASSERT_TRUE(file.ok()) << file.status();
  const v1::Job job = ToJob(*file);
  EXPECT_EQ(job.display_name(), "n");
  EXPECT_EQ(job.failure_policy(), v1::FAILURE_POLICY_FAIL_FAST);
  EXPECT_EQ(job.priority(), v1::PRIORITY_LOW);
  EXPECT_EQ(job.timeout().seconds(), 3);
  EXPECT_EQ(job.labels().at("a"), "b");
  EXPECT_EQ(job.tasks(0).function().name(), "echo");
  EXPECT_EQ(job.tasks(0).payload(), "hi");
  EXPECT_FALSE(job.tasks(0).has_retry_policy());
  const v1::Task& task = job.tasks(1);
  EXPECT_EQ(task.task_id(), "y");
  EXPECT_THAT(task.command().argv(), ElementsAre("cat"));
  EXPECT_EQ(task.command().stdin(), v1::CommandAction::STDIN_INPUTS);
  EXPECT_EQ(task.command().environment().at("V"), "w");
  EXPECT_EQ(task.command().working_directory(), "/srv");
  EXPECT_THAT(task.after(), ElementsAre("x"));
  EXPECT_EQ(task.run_if(), v1::RUN_IF_ANY_FAILED);
  EXPECT_EQ(task.priority(), v1::PRIORITY_HIGH);
  EXPECT_EQ(task.attempt_timeout().seconds(), 1);
  EXPECT_EQ(task.queue_timeout().seconds(), 2);
  EXPECT_EQ(task.labels().at("c"), "d");
  EXPECT_EQ(task.runner(), "compute");
  EXPECT_EQ(job.tasks(0).runner(), "") << "the server's choice";
  EXPECT_EQ(task.retry_policy().max_attempts(), 2);
  EXPECT_EQ(task.retry_policy().initial_backoff().nanos(), 5'000'000);
  EXPECT_EQ(task.retry_policy().max_backoff().nanos(), 6'000'000);
  EXPECT_EQ(task.retry_policy().multiplier(), 3);
  EXPECT_TRUE(task.retry_policy().has_jitter());
  EXPECT_THAT(task.retry_policy().codes(), ElementsAre(google::rpc::ABORTED));
  EXPECT_THAT(Sinks(*file), ElementsAre(1u));
}

}  // namespace
}  // namespace jackdaw::cli
