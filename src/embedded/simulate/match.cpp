#include "embedded/simulate/match.h"

#include <re2/re2.h>

namespace berth::simulate {
namespace {

// The member that identifies the entries of an expected list ("type" or "name"); empty when not all entries have it.
std::string_view list_key(const JsonArray& expected) {
  for (const std::string_view key : {"type", "name"}) {
    bool all = !expected.empty();
    for (const auto& entry : expected) all = all && entry.is_object() && entry.as_object().contains(key);
    if (all) return key;
  }
  return {};
}

void compare(const Json& expected, const Json* actual, const std::string& path, std::vector<std::string>& out);

void compare_lists(const JsonArray& expected, const JsonArray& actual, const std::string& path,
                   std::vector<std::string>& out) {
  const auto key = list_key(expected);
  if (key.empty()) {
    if (expected.size() != actual.size()) {
      out.push_back(path + ": expected " + std::to_string(expected.size()) + " entries, there are " +
                    std::to_string(actual.size()));
      return;
    }
    for (std::size_t i = 0; i < expected.size(); ++i)
      compare(expected[i], &actual[i], path + "[" + std::to_string(i) + "]", out);
    return;
  }
  for (const auto& entry : expected) {
    const auto name = string_at(entry, {key});
    const Json* partner = nullptr;
    for (const auto& candidate : actual) {
      if (string_at(candidate, {key}) == name) partner = &candidate;
    }
    if (bool_at(entry, {"absent"})) {
      if (partner != nullptr)
        out.push_back(path + "[" + std::string(name) + "]: expected nothing, it is " + to_string(*partner));
      continue;
    }
    compare(entry, partner, path + "[" + std::string(name) + "]", out);
  }
}

bool string_matches(std::string_view expected, std::string_view actual) {
  if (expected.size() >= 2 && expected.front() == '/' && expected.back() == '/') {
    return RE2::PartialMatch(re2::StringPiece(actual.data(), actual.size()),
                             std::string(expected.substr(1, expected.size() - 2)));
  }
  return expected == actual;
}

void compare(const Json& expected, const Json* actual, const std::string& path, std::vector<std::string>& out) {
  if (expected.is_null()) {
    if (actual != nullptr && !actual->is_null())
      out.push_back(path + ": expected nothing, it is " + to_string(*actual));
    return;
  }
  if (actual == nullptr) {
    out.push_back(path + ": expected " + to_string(expected) + ", it is absent");
    return;
  }
  if (expected.is_object() && actual->is_object()) {
    for (const auto& [key, value] : expected.as_object())
      compare(value, actual->as_object().if_contains(key), path + "." + std::string(key), out);
  } else if (expected.is_array() && actual->is_array()) {
    compare_lists(expected.as_array(), actual->as_array(), path, out);
  } else if (expected.is_string() && actual->is_string()) {
    if (!string_matches(view(expected.as_string()), view(actual->as_string()))) {
      out.push_back(path + ": expected " + to_string(expected) + ", it is " + to_string(*actual));
    }
  } else if (!json_equal(expected, *actual)) {
    out.push_back(path + ": expected " + to_string(expected) + ", it is " + to_string(*actual));
  }
}

}  // namespace

std::vector<std::string> differences(const Json& expected, const Json& actual, const std::string& path) {
  std::vector<std::string> out;
  compare(expected, &actual, path, out);
  return out;
}

}  // namespace berth::simulate
