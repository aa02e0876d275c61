#include "client/cli/shapes.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace jackdaw::cli {
namespace {

constexpr std::int64_t kInEdges = 4;
constexpr std::int64_t kMaxLayerWidth = 1000;

using Refs = std::vector<JobBuilder::Ref>;

std::int64_t SquareRoot(std::int64_t n) {
  return std::max<std::int64_t>(1, std::llround(std::floor(std::sqrt(static_cast<double>(n)))));
}

// Neighbours in the layer before, near and far, so that layers mix.
void AddLayered(JobBuilder::ArrayHandle& array, std::int64_t tasks) {
  const std::int64_t width = std::min(SquareRoot(tasks), kMaxLayerWidth);
  const std::int64_t edges = std::min(kInEdges, width);
  Refs before, layer;
  for (std::int64_t i = 0; i < tasks; ++i) {
    const std::int64_t place = i % width;
    if (place == 0) {
      before.swap(layer);
      layer.clear();
    }
    Refs after;
    for (std::int64_t k = 0; k < edges && !before.empty(); ++k) {
      after.push_back(before[static_cast<std::size_t>((place + k * width / edges) % width)]);
    }
    layer.push_back(array.Add(after));
  }
}

void AddChain(JobBuilder::ArrayHandle& array, std::int64_t tasks) {
  JobBuilder::Ref last = array.Add();
  for (std::int64_t i = 1; i < tasks; ++i) last = array.Add({last});
}

void AddTree(JobBuilder::ArrayHandle& array, std::int64_t tasks) {
  Refs all;
  for (std::int64_t i = 0; i < tasks; ++i) {
    all.push_back(i == 0 ? array.Add() : array.Add({all[static_cast<std::size_t>((i - 1) / 2)]}));
  }
}

void AddWavefront(JobBuilder::ArrayHandle& array, std::int64_t tasks) {
  const std::int64_t width = SquareRoot(tasks);
  Refs row;  // The latest task of each column.
  for (std::int64_t i = 0; i < tasks; ++i) {
    const auto column = static_cast<std::size_t>(i % width);
    Refs after;
    if (i >= width) after.push_back(row[column]);
    if (column > 0) after.push_back(row[column - 1]);
    const JobBuilder::Ref added = array.Add(after);
    if (i < width) {
      row.push_back(added);
    } else {
      row[column] = added;
    }
  }
}

void AddRandom(JobBuilder::ArrayHandle& array, std::int64_t tasks) {
  std::mt19937_64 random(7433);  // NOLINT(cert-msc51-cpp): the same graph every time.
  Refs all;
  for (std::int64_t i = 0; i < tasks; ++i) {
    std::vector<std::uint64_t> chosen;
    const std::uint64_t edges = random() % (kInEdges + 1);
    for (std::uint64_t k = 0; k < edges && i > 0; ++k) {
      const std::uint64_t earlier = random() % static_cast<std::uint64_t>(i);
      if (std::find(chosen.begin(), chosen.end(), earlier) == chosen.end()) {
        chosen.push_back(earlier);
      }
    }
    Refs after;
    for (const std::uint64_t earlier : chosen) after.push_back(all[earlier]);
    all.push_back(array.Add(after));
  }
}

}  // namespace

const std::vector<std::pair<std::string, Shape>>& ShapeNames() {
  static const auto& names = *new std::vector<std::pair<std::string, Shape>>{
      {"layered", Shape::kLayered}, {"chain", Shape::kChain},         {"wide", Shape::kWide},
      {"tree", Shape::kTree},       {"wavefront", Shape::kWavefront}, {"random", Shape::kRandom}};
  return names;
}

JobBuilder MakeShape(Shape shape, std::int64_t tasks, absl::string_view function) {
  JobBuilder job("bench");
  JobBuilder::ArrayHandle array = job.Array(function);
  switch (shape) {
    case Shape::kLayered:
      AddLayered(array, tasks);
      break;
    case Shape::kChain:
      AddChain(array, tasks);
      break;
    case Shape::kWide:
      for (std::int64_t i = 0; i < tasks; ++i) array.Add();
      break;
    case Shape::kTree:
      AddTree(array, tasks);
      break;
    case Shape::kWavefront:
      AddWavefront(array, tasks);
      break;
    case Shape::kRandom:
      AddRandom(array, tasks);
      break;
  }
  return job;
}

}  // namespace jackdaw::cli
