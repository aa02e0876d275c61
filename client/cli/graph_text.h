// A graph as text that other programs draw: Graphviz DOT and Mermaid. Pure functions.

#ifndef JACKDAW_CLIENT_CLI_GRAPH_TEXT_H_
#define JACKDAW_CLIENT_CLI_GRAPH_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "client/jobfile/job_file.h"
#include "jackdaw/v1/task.pb.h"

namespace jackdaw::cli {

struct Graph {
  struct Node {
    std::string label;
    std::string detail;  // What it does: "sha256", "sh -c ...". May be empty.
    v1::Task::State state = v1::Task::STATE_UNSPECIFIED;  // Unspecified: not run, no colour.
    std::vector<std::uint32_t> after;                     // Places in `nodes`.
  };
  std::string name;
  std::vector<Node> nodes;
};

[[nodiscard]] Graph ToGraph(const jobfile::JobFile& job);
// Tasks by index, all of a job, in full view.
[[nodiscard]] Graph ToGraph(const std::string& name, const std::vector<v1::Task>& tasks);

[[nodiscard]] std::string ToDot(const Graph& graph);
[[nodiscard]] std::string ToMermaid(const Graph& graph);

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_GRAPH_TEXT_H_
