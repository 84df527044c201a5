// How strategic merge patches identify the items of a list, and where these stand in it.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/json.h"

namespace berth::apiserver {

// By the value of one member, or by the whole value.
class ListIdentity {
 public:
  explicit ListIdentity(std::string key) : key_(std::move(key)) {}

  bool by_value() const { return key_.empty(); }
  // The value that identifies the item; nullptr when it has no key.
  const Json* of(const Json& item) const { return key_.empty() ? &item : find(item, key_); }

 private:
  std::string key_;
};

// The first place of each item in a list.
class ListPlaces {
 public:
  ListPlaces(const ListIdentity& identity, const JsonArray& list) : identity_(identity) {
    for (const Json& item : list) append(item);
  }

  // Records an item after the last one.
  void append(const Json& item) {
    if (const Json* id = identity_.of(item)) places_.emplace(canonical_json(*id), size_);
    ++size_;
  }
  std::optional<std::size_t> of(const Json& item) const {
    const Json* id = identity_.of(item);
    if (id == nullptr || places_.empty()) return std::nullopt;
    const auto found = places_.find(canonical_json(*id));
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  const ListIdentity& identity_;
  std::unordered_map<std::string, std::size_t> places_;
  std::size_t size_ = 0;
};

}  // namespace berth::apiserver
