// A strict reader of JSON, for tests of what we write: anything that RFC 8259 does not allow is
// refused.
//
// Thread safety: none; a value is constant once read.

#ifndef JACKDAW_TESTS_SUPPORT_JSON_H_
#define JACKDAW_TESTS_SUPPORT_JSON_H_

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace jackdaw {

// A value of any kind. Asking one for what it is not gives nothing: 0, "", no elements.
struct Json {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  bool boolean = false;
  double number = 0;
  std::string string;
  std::vector<Json> array;
  std::map<std::string, Json> object;

  [[nodiscard]] bool Has(const std::string& name) const { return object.count(name) != 0; }
  [[nodiscard]] const Json& operator[](const std::string& name) const {
    static const Json* const none = new Json;
    const auto at = object.find(name);
    return at == object.end() ? *none : at->second;
  }

  // Nothing where `text` is not one JSON value.
  [[nodiscard]] static std::optional<Json> Parse(absl::string_view text);
};

namespace json_internal {

class Reader {
 public:
  explicit Reader(absl::string_view text) : text_(text) {}

  bool Whole(Json& value) {
    if (!Value(value)) return false;
    Space();
    return text_.empty();
  }

 private:
  static constexpr int kMostNested = 100;

  void Space() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size())); }
  bool Take(absl::string_view token) {
    Space();
    if (text_.substr(0, token.size()) != token) return false;
    text_.remove_prefix(token.size());
    return true;
  }

  bool Value(Json& value) {
    if (++depth_ > kMostNested) return false;
    const bool read = AnyValue(value);
    --depth_;
    return read;
  }
  bool AnyValue(Json& value) {
    Space();
    if (Take("null")) return true;
    if (Take("{")) return Object(value);
    if (Take("[")) return Array(value);
    if (Take("\"")) {
      value.kind = Json::Kind::kString;
      return String(value.string);
    }
    value.kind = Json::Kind::kBool;
    value.boolean = Take("true");
    if (value.boolean || Take("false")) return true;
    return Number(value);
  }

  bool Object(Json& value) {
    value.kind = Json::Kind::kObject;
    if (Take("}")) return true;
    do {
      std::string name;
      if (!Take("\"") || !String(name) || !Take(":")) return false;
      Json member;
      if (!Value(member) || !value.object.emplace(name, std::move(member)).second) return false;
    } while (Take(","));
    return Take("}");
  }

  bool Array(Json& value) {
    value.kind = Json::Kind::kArray;
    if (Take("]")) return true;
    do {
      if (!Value(value.array.emplace_back())) return false;
    } while (Take(","));
    return Take("]");
  }

  // After the opening quotation mark.
  bool String(std::string& string) {
    while (!text_.empty() && text_[0] != '"') {
      if (static_cast<unsigned char>(text_[0]) < 0x20) return false;
      if (text_[0] == '\\') {
        if (!Escape(string)) return false;
      } else {
        string.push_back(text_[0]);
        text_.remove_prefix(1);
      }
    }
    if (text_.empty()) return false;
    text_.remove_prefix(1);
    return true;
  }
  // ASCII alone: what we write is escaped for no other reason.
  bool Escape(std::string& string) {
    static constexpr absl::string_view kFrom = "\"\\/bfnrt";
    static constexpr absl::string_view kTo = "\"\\/\b\f\n\r\t";
    if (text_.size() < 2) return false;
    if (text_[1] == 'u') {
      unsigned code = 0;
      if (text_.size() < 6 || !absl::SimpleHexAtoi(text_.substr(2, 4), &code)) return false;
      if (code >= 0x80) return false;
      string.push_back(static_cast<char>(code));
      text_.remove_prefix(6);
      return true;
    }
    const std::size_t at = kFrom.find(text_[1]);
    if (at == absl::string_view::npos) return false;
    string.push_back(kTo[at]);
    text_.remove_prefix(2);
    return true;
  }

  bool Number(Json& value) {
    value.kind = Json::Kind::kNumber;
    const std::size_t length = std::min(text_.find_first_not_of("+-.0123456789eE"), text_.size());
    const absl::string_view digits = text_.substr(0, length);
    text_.remove_prefix(length);
    const std::size_t first = digits.substr(0, 1) == "-" ? 1 : 0;
    if (digits.size() == first || digits[first] < '0' || digits[first] > '9') return false;
    if (digits[first] == '0' && digits.size() > first + 1 && digits[first + 1] >= '0' &&
        digits[first + 1] <= '9') {
      return false;
    }
    return digits.back() != '.' && absl::SimpleAtod(digits, &value.number);
  }

  absl::string_view text_;
  int depth_ = 0;
};

}  // namespace json_internal

inline std::optional<Json> Json::Parse(absl::string_view text) {
  Json value;
  if (!json_internal::Reader(text).Whole(value)) return std::nullopt;
  return value;
}

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_SUPPORT_JSON_H_
