// Field: one value of a job file with its path, and the typed ways to read it. Each reader
// either gives the value or adds a mistake that says what was found and what was expected.
//
// Thread safety: none, as yaml-cpp's nodes.

#ifndef JACKDAW_CLIENT_JOBFILE_FIELD_H_
#define JACKDAW_CLIENT_JOBFILE_FIELD_H_

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/jobfile/errors.h"
#include "client/jobfile/words.h"

namespace jackdaw::jobfile {

class Field {
 public:
  // A value at the top: its path is empty.
  Field(const YAML::Node& node, Errors* errors) : node_(node), errors_(errors) {}
  Field(const Field&) = default;
  Field& operator=(const Field&) = delete;  // Assigning a yaml-cpp node changes the document.

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Place place() const;

  void Fail(absl::string_view message) const { errors_->Add(place(), path_, message); }
  // "found ..., expected `expected`", the first half by itself.
  void FailExpected(absl::string_view expected) const;

  // Any scalar is text: 5 and true need no quotes. "!!binary" is decoded.
  [[nodiscard]] std::optional<std::string> Text() const;
  // As Text(), and not empty, without a NUL character.
  [[nodiscard]] std::optional<std::string> Name() const;
  [[nodiscard]] std::optional<std::vector<std::string>> Texts(absl::string_view expected) const;
  // A list of names, or one name.
  [[nodiscard]] std::vector<Field> OneOrMore() const;
  // What is over a limit is a mistake; the rest is read.
  struct MapLimits {
    std::size_t entries = std::numeric_limits<std::size_t>::max();
    std::size_t name_bytes = std::numeric_limits<std::size_t>::max();
    std::size_t text_bytes = std::numeric_limits<std::size_t>::max();
  };
  [[nodiscard]] std::optional<std::map<std::string, std::string>> TextMap(
      const MapLimits& limits) const;
  [[nodiscard]] std::optional<int> Integer(int least, int most) const;
  [[nodiscard]] std::optional<double> Number(double least, double most) const;
  [[nodiscard]] std::optional<absl::Duration> Duration() const;
  template <typename T>
  [[nodiscard]] std::optional<T> Word(const Words<T>& words) const;

  // The items of a list, or nothing and a mistake.
  [[nodiscard]] std::optional<std::vector<Field>> Items(absl::string_view expected) const;

  // Reads a mapping: calls the reader of each field that is there, in file order; a field
  // without reader, or given twice, is a mistake.
  struct Reader {
    absl::string_view name;
    std::function<void(const Field&)> read;
  };
  // Returns whether this is a mapping at all.
  bool Mapping(absl::string_view expected, const std::vector<Reader>& readers) const;

 private:
  [[nodiscard]] Field Child(const YAML::Node& key, const YAML::Node& value) const;
  [[nodiscard]] std::optional<std::size_t> WordIndex(const std::vector<std::string>& words) const;

  YAML::Node node_;
  Errors* errors_;
  std::string path_;
  Place fallback_;  // Of the key: for values that have no place of their own.
};

template <typename T>
std::optional<T> Field::Word(const Words<T>& words) const {
  std::vector<std::string> names;
  for (const auto& [name, value] : words) names.emplace_back(name);
  const std::optional<std::size_t> index = WordIndex(names);
  return index.has_value() ? std::optional<T>(words[*index].second) : std::nullopt;
}

}  // namespace jackdaw::jobfile

#endif  // JACKDAW_CLIENT_JOBFILE_FIELD_H_
