// Table: columns that line up, for people.

#ifndef JACKDAW_CLIENT_CLI_TABLE_H_
#define JACKDAW_CLIENT_CLI_TABLE_H_

#include <string>
#include <vector>

namespace jackdaw::cli {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Cells beyond the columns are dropped, missing ones are empty. Cells are made printable.
  void AddRow(std::vector<std::string> cells);

  // Titles, then rows, two spaces between columns, nothing behind the last one.
  [[nodiscard]] std::string str() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_TABLE_H_
