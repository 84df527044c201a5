#include "base/json_patch.h"

#include <algorithm>
#include <string>

namespace berth {
namespace {

// Appends an escaped key to a JSON pointer (RFC 6901).
std::string child(const std::string& path, std::string_view key) {
  std::string out = path + "/";
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

class Difference {
 public:
  JsonArray operations;

  void between(const Json& from, const Json& to, const std::string& path) {
    if (from.is_object() && to.is_object()) return between(from.get_object(), to.get_object(), path);
    if (from.is_array() && to.is_array()) return between(from.get_array(), to.get_array(), path);
    if (!json_equal(from, to)) add("replace", path, &to);
  }

 private:
  void add(std::string_view operation, std::string path, const Json* value) {
    JsonObject entry{{"op", operation}, {"path", std::move(path)}};
    if (value != nullptr) entry["value"] = *value;
    operations.push_back(std::move(entry));
  }

  void between(const JsonObject& from, const JsonObject& to, const std::string& path) {
    for (const auto& [key, value] : from) {
      if (!to.contains(key)) add("remove", child(path, key), nullptr);
    }
    for (const auto& [key, value] : to) {
      const Json* old = from.if_contains(key);
      if (old == nullptr) {
        add("add", child(path, key), &value);
      } else {
        between(*old, value, child(path, key));
      }
    }
  }

  void between(const JsonArray& from, const JsonArray& to, const std::string& path) {
    const std::size_t shorter = std::min(from.size(), to.size());
    std::size_t head = 0, tail = 0;
    while (head < shorter && json_equal(from[head], to[head])) ++head;
    while (tail < shorter - head && json_equal(from[from.size() - 1 - tail], to[to.size() - 1 - tail])) ++tail;
    const auto at = [&](std::size_t i) { return path + "/" + std::to_string(i); };
    const std::size_t from_end = from.size() - tail, to_end = to.size() - tail;
    for (std::size_t i = head; i < std::min(from_end, to_end); ++i) between(from[i], to[i], at(i));
    // Remove from the end, so that the other indexes stay valid.
    for (std::size_t i = from_end; i > to_end; --i) add("remove", at(i - 1), nullptr);
    for (std::size_t i = from_end; i < to_end; ++i) add("add", at(i), &to[i]);
  }
};

}  // namespace

Json make_json_patch(const Json& from, const Json& to) {
  Difference difference;
  difference.between(from, to, "");
  return std::move(difference.operations);
}

}  // namespace berth
