// What a user may see of a kind of objects: all of them, or those in some namespaces.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace berth::console {

struct Scope {
  bool all = false;
  std::set<std::string, std::less<>> namespaces;  // empty when `all` is true

  bool nothing() const { return !all && namespaces.empty(); }
  bool covers(std::string_view ns) const { return all || namespaces.contains(ns); }
  void add(const Scope& other) {
    all = all || other.all;
    if (all) {
      namespaces.clear();
    } else {
      namespaces.insert(other.namespaces.begin(), other.namespaces.end());
    }
  }
  bool operator==(const Scope&) const = default;
};

}  // namespace berth::console
