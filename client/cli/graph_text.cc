#include "client/cli/graph_text.h"

#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/text.h"
#include "client/cpp/convert.h"

namespace jackdaw::cli {
namespace {

constexpr std::size_t kMaxDetailWidth = 40;

// Pale enough for black letters, and apart also for those who do not see red and green
// apart: failed ones are darker.
const char* Colour(v1::Task::State state) {
  switch (state) {
    case v1::Task::STATE_WAITING:
    case v1::Task::STATE_QUEUED:
      return "#eceff1";
    case v1::Task::STATE_RUNNING:
    case v1::Task::STATE_WAITING_FOR_CHILDREN:
      return "#90caf9";
    case v1::Task::STATE_BACKOFF:
      return "#ffe082";
    case v1::Task::STATE_SUCCEEDED:
      return "#c8e6c9";
    case v1::Task::STATE_FAILED:
      return "#ef9a9a";
    case v1::Task::STATE_CANCELLED:
      return "#d1c4e9";
    case v1::Task::STATE_SKIPPED:
      return "#f5f5f5";
    default:
      return "#ffffff";
  }
}

std::string DotQuoted(absl::string_view text) {
  std::string out = "\"";
  for (const char c : Printable(text, LineEnds::kEscape)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// Mermaid knows entities by number between '#' and ';'. It reads labels as HTML.
std::string MermaidQuoted(absl::string_view text) {
  std::string out = "\"";
  for (const char c : Printable(text, LineEnds::kEscape)) {
    if (absl::string_view("\"#<>&;`\\").find(c) != absl::string_view::npos) {
      absl::StrAppend(&out, "#", static_cast<int>(c), ";");
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string CommandDetail(absl::string_view words) {
  return Clip(Printable(words, LineEnds::kEscape), kMaxDetailWidth);
}

std::string DetailOf(const v1::Task& task) {
  if (task.has_function()) return task.function().name();
  if (task.has_handler()) return task.handler().name();
  if (task.has_command()) return CommandDetail(absl::StrJoin(task.command().argv(), " "));
  return "";
}

}  // namespace

Graph ToGraph(const jobfile::JobFile& job) {
  Graph graph;
  graph.name = job.name;
  for (const jobfile::Task& task : job.tasks) {
    Graph::Node node;
    node.label = task.id;
    node.detail =
        task.command.empty() ? task.function : CommandDetail(absl::StrJoin(task.command, " "));
    node.after = task.dependencies;
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

Graph ToGraph(const std::string& name, const std::vector<v1::Task>& tasks) {
  Graph graph;
  graph.name = name;
  for (const v1::Task& task : tasks) {
    Graph::Node node;
    node.label = std::string(client::LastPart(task.name()));
    node.detail = DetailOf(task);
    node.state = task.state();
    for (const std::int32_t index : task.after_indices()) {
      if (index >= 0 && static_cast<std::size_t>(index) < tasks.size()) {
        node.after.push_back(static_cast<std::uint32_t>(index));
      }
    }
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

std::string ToDot(const Graph& graph) {
  std::string out = absl::StrCat(
      "digraph ", DotQuoted(graph.name), " {\n  rankdir=LR;\n",
      "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", fontname=Helvetica];\n");
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Graph::Node& node = graph.nodes[i];
    absl::StrAppend(&out, "  n", i, " [label=", DotQuoted(node.label));
    const bool has_state = node.state != v1::Task::STATE_UNSPECIFIED;
    if (has_state) absl::StrAppend(&out, ", fillcolor=\"", Colour(node.state), "\"");
    std::string tooltip = node.detail;
    if (has_state) absl::StrAppend(&tooltip, tooltip.empty() ? "" : ": ", StateName(node.state));
    if (!tooltip.empty()) absl::StrAppend(&out, ", tooltip=", DotQuoted(tooltip));
    absl::StrAppend(&out, "];\n");
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::uint32_t before : graph.nodes[i].after) {
      absl::StrAppend(&out, "  n", before, " -> n", i, ";\n");
    }
  }
  return out + "}\n";
}

std::string ToMermaid(const Graph& graph) {
  std::string out = "flowchart LR\n";
  std::map<v1::Task::State, std::vector<std::string>> by_state;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Graph::Node& node = graph.nodes[i];
    absl::StrAppend(&out, "  n", i, "[", MermaidQuoted(node.label), "]\n");
    if (node.state != v1::Task::STATE_UNSPECIFIED) {
      by_state[node.state].push_back(absl::StrCat("n", i));
    }
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::uint32_t before : graph.nodes[i].after) {
      absl::StrAppend(&out, "  n", before, " --> n", i, "\n");
    }
  }
  for (const auto& [state, nodes] : by_state) {
    const std::string name = absl::AsciiStrToLower(StateName(state));
    absl::StrAppend(&out, "  classDef ", name, " fill:", Colour(state), ",color:#000\n");
    absl::StrAppend(&out, "  class ", absl::StrJoin(nodes, ","), " ", name, "\n");
  }
  return out;
}

}  // namespace jackdaw::cli
