// Reads the fields of a configuration file strictly: whatever is unknown, of the wrong type or out of range is collected as an
// error with its path, so that one look at the message is enough to mend the file.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/selector.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/time.h"

namespace berth::api::config {

// What reading a file found out besides its values. Each entry is "path: sentence".
struct Findings {
  std::vector<std::string> errors;    // the file cannot be used
  std::vector<std::string> warnings;  // it can, but this part of it has no effect
  void error(std::string_view path, std::string_view what);
  void warn(std::string_view path, std::string_view what);
};

// A value as a sentence shows it: JSON, cut when it is long.
std::string shown(const Json& value);

// One object of the file. Every field is named in exactly one call; done() complains about all others. A field that is absent or
// null keeps the value it has (the default), and so does one with an error.
class Fields {
 public:
  // `value` must outlive this; null stands for an object without fields.
  Fields(const Json& value, std::string path, Findings& findings);

  void text(std::string_view name, std::string& out);
  void flag(std::string_view name, bool& out);
  // Integers from `low` to `high`.
  template <typename T>
  void number(std::string_view name, T& out, std::int64_t low, std::int64_t high = std::numeric_limits<T>::max()) {
    if (const auto read = integer(name, low, high)) out = static_cast<T>(*read);
  }
  template <typename T>
  void number(std::string_view name, std::optional<T>& out, std::int64_t low, std::int64_t high = std::numeric_limits<T>::max()) {
    if (const auto read = integer(name, low, high)) out = static_cast<T>(*read);
  }
  void real(std::string_view name, double& out);
  // As Go's metav1.Duration: "90s", "1h30m". At least `low`.
  void duration(std::string_view name, Duration& out, Duration low = Duration(0));
  void duration(std::string_view name, std::optional<Duration>& out, Duration low = Duration(0));
  void texts(std::string_view name, std::vector<std::string>& out);
  void selector(std::string_view name, std::optional<LabelSelector>& out);  // metav1.LabelSelector
  // One of `names`; the index of it. An empty text counts as absent.
  std::optional<std::size_t> choice(std::string_view name, const std::vector<std::string_view>& names);
  Fields object(std::string_view name);               // without fields when absent
  std::vector<Fields> objects(std::string_view name);  // a list of objects
  // A map, in order of its keys.
  std::map<std::string, const Json*> entries(std::string_view name);

  // The value of a field, read in the caller's own way; null when absent.
  const Json* take(std::string_view name);
  bool present() const { return object_ != nullptr; }
  const Json* value() const { return value_; }
  std::string path_of(std::string_view name) const;
  const std::string& path() const { return path_; }
  Findings& findings() const { return findings_; }

  void error(std::string_view name, std::string_view what) const { findings_.error(path_of(name), what); }
  void expected(std::string_view name, const Json& found, std::string_view what) const;
  // Every field that no call named is an error.
  void done() const;

 private:
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t low, std::int64_t high);

  const Json* value_ = nullptr;
  const JsonObject* object_ = nullptr;
  std::string path_;  // "" at the top
  Findings& findings_;
  std::vector<std::string> known_;
};

}  // namespace berth::api::config
