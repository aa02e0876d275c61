#include "client/cli/table.h"

#include <algorithm>

#include "client/cli/text.h"

namespace jackdaw::cli {

void Table::AddRow(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = Printable(cell, LineEnds::kEscape);
  rows_.push_back(std::move(cells));
}

std::string Table::str() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = Width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, Width(row[c]));
    widths.push_back(width);
  }
  std::string out;
  const auto append = [&](std::size_t c, const std::string& cell) {
    const std::string padding(widths[c] - Width(cell), ' ');
    if (c > 0) out += "  ";
    if (columns_[c].align == Align::kRight) out += padding;
    out += cell;
    if (columns_[c].align == Align::kLeft && c + 1 < columns_.size()) out += padding;
    if (c + 1 == columns_.size()) {
      while (!out.empty() && out.back() == ' ') out.pop_back();
      out += '\n';
    }
  };
  for (std::size_t c = 0; c < columns_.size(); ++c) append(c, columns_[c].title);
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < columns_.size(); ++c) append(c, row[c]);
  }
  return out;
}

}  // namespace jackdaw::cli
