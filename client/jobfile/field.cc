#include "client/jobfile/field.h"

#include <cmath>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace jackdaw::jobfile {
namespace {

constexpr char kBinaryTag[] = "tag:yaml.org,2002:binary";

std::string Describe(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return absl::StrCat("found ", Quoted(node.Scalar()));
    case YAML::NodeType::Sequence:
      return absl::StrCat("found a list of ", node.size());
    case YAML::NodeType::Map:
      return "found a mapping";
    default:
      return "found nothing";
  }
}

Place PlaceOf(const YAML::Node& node) {
  const YAML::Mark mark = node.Mark();
  return mark.is_null() ? Place{} : Place{mark.line + 1, mark.column + 1};
}

}  // namespace

Place Field::place() const {
  const Place own = PlaceOf(node_);
  return own.line > 0 && !node_.IsNull() ? own : fallback_;
}

Field Field::Child(const YAML::Node& key, const YAML::Node& value) const {
  Field child(value, errors_);
  child.path_ = absl::StrCat(path_, path_.empty() ? "" : ".", absl::Utf8SafeCEscape(key.Scalar()));
  child.fallback_ = PlaceOf(key);
  return child;
}

void Field::FailExpected(absl::string_view expected) const {
  Fail(absl::StrCat(Describe(node_), ", expected ", expected));
}

std::optional<std::string> Field::Text() const {
  if (!node_.IsScalar()) {
    FailExpected("text");
    return std::nullopt;
  }
  if (node_.Tag() != kBinaryTag) return node_.Scalar();
  std::string decoded;
  if (!absl::Base64Unescape(node_.Scalar(), &decoded)) {
    FailExpected("base64, as !!binary says");
    return std::nullopt;
  }
  return decoded;
}

std::optional<std::string> Field::Name() const {
  std::optional<std::string> text = Text();
  if (!text.has_value()) return std::nullopt;
  if (text->empty() || text->find('\0') != std::string::npos) {
    FailExpected("text that is not empty and has no NUL character");
    return std::nullopt;
  }
  return text;
}

std::optional<std::vector<Field>> Field::Items(absl::string_view expected) const {
  if (!node_.IsSequence()) {
    FailExpected(expected);
    return std::nullopt;
  }
  std::vector<Field> items;
  items.reserve(node_.size());
  std::size_t index = 0;
  // By iterator: an index into a long yaml-cpp list is slow.
  for (const auto& node : node_) {
    Field item(node, errors_);
    item.path_ = absl::StrCat(path_, "[", index++, "]");
    item.fallback_ = place();
    items.push_back(item);
  }
  return items;
}

std::optional<std::vector<std::string>> Field::Texts(absl::string_view expected) const {
  const std::optional<std::vector<Field>> items = Items(expected);
  if (!items.has_value()) return std::nullopt;
  std::vector<std::string> texts;
  for (const Field& item : *items) {
    std::optional<std::string> text = item.Text();
    if (!text.has_value()) return std::nullopt;
    texts.push_back(*std::move(text));
  }
  return texts;
}

std::vector<Field> Field::OneOrMore() const {
  if (node_.IsScalar()) return {*this};
  return Items("a list of task ids, or one id").value_or(std::vector<Field>());
}

std::optional<std::map<std::string, std::string>> Field::TextMap(const MapLimits& limits) const {
  if (!node_.IsMap()) {
    FailExpected("a mapping of names to texts");
    return std::nullopt;
  }
  if (node_.size() > limits.entries) {
    Fail(absl::StrCat("found ", node_.size(), " entries, expected at most ", limits.entries));
  }
  std::map<std::string, std::string> map;
  for (const auto& entry : node_) {
    if (!entry.first.IsScalar() || entry.first.Scalar().empty()) {
      errors_->Add(PlaceOf(entry.first), path_,
                   absl::StrCat(Describe(entry.first), " as a name, expected text"));
      continue;
    }
    const std::string& name = entry.first.Scalar();
    if (name.size() > limits.name_bytes) {
      errors_->Add(PlaceOf(entry.first), path_,
                   absl::StrCat("found the name ", Quoted(name), " of ", name.size(),
                                " bytes, expected at most ", limits.name_bytes));
      continue;
    }
    const Field value = Child(entry.first, entry.second);
    std::optional<std::string> text = value.Text();
    if (!text.has_value()) continue;
    if (text->size() > limits.text_bytes) {
      value.Fail(absl::StrCat("found a text of ", text->size(), " bytes, expected at most ",
                              limits.text_bytes));
    }
    if (!map.emplace(name, *std::move(text)).second) {
      errors_->Add(PlaceOf(entry.first), value.path_, "found twice, expected once");
    }
  }
  return map;
}

std::optional<int> Field::Integer(int least, int most) const {
  int value = 0;
  if (node_.IsScalar() && absl::SimpleAtoi(node_.Scalar(), &value) && value >= least &&
      value <= most) {
    return value;
  }
  FailExpected(absl::StrCat("a whole number from ", least, " to ", most));
  return std::nullopt;
}

std::optional<double> Field::Number(double least, double most) const {
  double value = 0;
  if (node_.IsScalar() && absl::SimpleAtod(node_.Scalar(), &value) && std::isfinite(value) &&
      value >= least && value <= most) {
    return value;
  }
  FailExpected(absl::StrCat("a number from ", least, " to ", most));
  return std::nullopt;
}

std::optional<absl::Duration> Field::Duration() const {
  if (node_.IsScalar()) {
    const std::optional<absl::Duration> duration = ParseDuration(node_.Scalar());
    if (duration.has_value()) return duration;
  }
  FailExpected("a duration with its unit, such as 250ms, 5s, 2m or 1h30m, at most a year (8760h)");
  return std::nullopt;
}

std::optional<std::size_t> Field::WordIndex(const std::vector<std::string>& words) const {
  if (node_.IsScalar()) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == node_.Scalar()) return i;
    }
  }
  FailExpected(absl::StrCat("one of ", absl::StrJoin(words, ", "),
                            node_.IsScalar() ? DidYouMean(node_.Scalar(), words) : ""));
  return std::nullopt;
}

bool Field::Mapping(absl::string_view expected, const std::vector<Reader>& readers) const {
  if (!node_.IsMap()) {
    FailExpected(expected);
    return false;
  }
  std::vector<std::string> names;
  for (const Reader& reader : readers) names.emplace_back(reader.name);
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    if (!entry.first.IsScalar()) {
      errors_->Add(PlaceOf(entry.first), path_,
                   absl::StrCat(Describe(entry.first), " as a field, expected one of ",
                                absl::StrJoin(names, ", ")));
      continue;
    }
    const std::string& name = entry.first.Scalar();
    const Field child = Child(entry.first, entry.second);
    if (!seen.insert(name).second) {
      errors_->Add(PlaceOf(entry.first), child.path_, "found twice, expected once");
      continue;
    }
    bool known = false;
    for (const Reader& reader : readers) {
      if (reader.name != name) continue;
      reader.read(child);
      known = true;
    }
    if (known) continue;
    errors_->Add(PlaceOf(entry.first), child.path_,
                 absl::StrCat("unknown field, expected one of ", absl::StrJoin(names, ", "),
                              DidYouMean(name, names)));
  }
  return true;
}

}  // namespace jackdaw::jobfile
