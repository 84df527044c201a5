// Reads the fields of a configuration file strictly: collects an error with its path for every field that is unknown,
// of the wrong type or out of range, so that one message is enough to correct the file.
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

// A setting that Berth does not honour, although it starts with it.
struct NotHonoured {
  std::string setting;  // its path, such as "featureGates.MultiKueue"
  std::string line;     // "path: sentence", with what follows
  bool operator==(const NotHonoured&) const = default;
};

// What is found in a file. Each line is "path: sentence".
struct Findings {
  std::vector<std::string> errors;    // with any of these the file cannot be used
  std::vector<std::string> warnings;  // parts of the file that have no effect and change nothing
  std::vector<NotHonoured> not_honoured;
  void error(std::string_view path, std::string_view what);
  void warn(std::string_view path, std::string_view what);
  // `consequence`: what happens instead.
  void missing(std::string_view path, std::string_view consequence);
};

// A value as text for messages: JSON, cut to 60 bytes.
std::string shown(const Json& value);

// One object of the file. Each known field is read by exactly one call; done() reports all other fields as errors.
// When a field is absent, null or wrong, `out` keeps its value (the default).
class Fields {
 public:
  // `value` must outlive this object; null counts as an object without fields.
  Fields(const Json& value, std::string path, Findings& findings);

  void text(std::string_view name, std::string& out);
  void flag(std::string_view name, bool& out);
  // Integers from `low` to `high`.
  template <typename T>
  void number(std::string_view name, T& out, std::int64_t low, std::int64_t high = std::numeric_limits<T>::max()) {
    if (const auto read = integer(name, low, high)) out = static_cast<T>(*read);
  }
  template <typename T>
  void number(std::string_view name, std::optional<T>& out, std::int64_t low,
              std::int64_t high = std::numeric_limits<T>::max()) {
    if (const auto read = integer(name, low, high)) out = static_cast<T>(*read);
  }
  void real(std::string_view name, double& out);
  // As Go's metav1.Duration: "90s", "1h30m". At least `low`.
  void duration(std::string_view name, Duration& out, Duration low = Duration(0));
  void duration(std::string_view name, std::optional<Duration>& out, Duration low = Duration(0));
  void texts(std::string_view name, std::vector<std::string>& out);
  void selector(std::string_view name, std::optional<LabelSelector>& out);  // metav1.LabelSelector
  // The field must be one of `names`; returns its index. Empty text counts as absent. nullopt when absent or wrong.
  std::optional<std::size_t> choice(std::string_view name, const std::vector<std::string_view>& names);
  Fields object(std::string_view name);                // has no fields when absent
  std::vector<Fields> objects(std::string_view name);  // a list of objects
  // A map, in order of its keys.
  std::map<std::string, const Json*> entries(std::string_view name);

  // The raw value of a field, for the caller to read; null when absent.
  const Json* take(std::string_view name);
  bool present() const { return object_ != nullptr; }
  const Json* value() const { return value_; }
  std::string path_of(std::string_view name) const;
  const std::string& path() const { return path_; }
  Findings& findings() const { return findings_; }

  void error(std::string_view name, std::string_view what) const { findings_.error(path_of(name), what); }
  void expected(std::string_view name, const Json& found, std::string_view what) const;
  // Reports every field that no call has read as an error.
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
