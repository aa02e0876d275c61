// Shapes of graphs to measure a server with. Pure: the same arguments give the same graph.

#ifndef JACKDAW_CLIENT_CLI_SHAPES_H_
#define JACKDAW_CLIENT_CLI_SHAPES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/cpp/job_builder.h"

namespace jackdaw::cli {

enum class Shape {
  kLayered,    // Layers of about the square root; each task after 4 of the layer before.
  kChain,      // Each task after the one before.
  kWide,       // No dependencies at all.
  kTree,       // Binary, from the root: each task after its parent.
  kWavefront,  // A square grid: each task after its upper and its left neighbour.
  kRandom,     // Each task after up to 4 earlier ones, by a fixed seed.
};

// By the names of `--shape`: layered, chain, wide, tree, wavefront, random.
[[nodiscard]] const std::vector<std::pair<std::string, Shape>>& ShapeNames();

// A job of exactly `tasks` tasks that call `function`, as one array of columns.
// Requires 1 <= tasks <= 2^31 - 1.
[[nodiscard]] JobBuilder MakeShape(Shape shape, std::int64_t tasks, absl::string_view function);

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_SHAPES_H_
