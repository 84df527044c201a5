// Sets of fields of an object, and FieldsV1, their encoding in managedFields.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace berth::apiserver {

// One step of a path: a field of a map, or a list item by its keys, by its value or by its index.
struct PathElement {
  enum class Kind : std::uint8_t { kField, kKey, kValue, kIndex };
  Kind kind = Kind::kField;
  std::string text;  // kField: the name; kKey and kValue: canonical JSON; kIndex: decimal digits

  static PathElement field(std::string_view name) { return {Kind::kField, std::string(name)}; }
  static PathElement key(const Json& keys) { return {Kind::kKey, canonical_json(keys)}; }
  static PathElement value(const Json& value) { return {Kind::kValue, canonical_json(value)}; }
  std::strong_ordering operator<=>(const PathElement&) const = default;
};
using FieldPath = std::vector<PathElement>;

std::string path_text(const PathElement& element);  // ".spec", `[name="main"]`, `[="x"]`, "[0]"
std::string path_text(const FieldPath& path);       // `.spec.podSets[name="main"].count`

// A set of paths, stored as a trie. A path can be a member itself, have members below it, or both.
class FieldSet {
 public:
  struct Entry;
  using Entries = std::map<PathElement, Entry>;

  bool empty() const { return entries_.empty(); }
  const Entries& entries() const { return entries_; }
  bool contains(const FieldPath& path) const;
  void insert(const FieldPath& path);                   // the empty path is ignored
  const Entry* find(const PathElement& element) const;  // nullptr when absent
  Entry& at(const PathElement& element);                // inserted when absent
  // Drops the entry at the path and everything below it.
  void erase_below(const FieldPath& path);
  void add(const FieldSet& other);                                          // as unite(), in time for `other` only
  void for_each(const std::function<void(const FieldPath&)>& visit) const;  // visits all members, in order
  bool operator==(const FieldSet& other) const;

  // Set operations per path: a path in `b` does not affect the paths below it.
  static FieldSet unite(const FieldSet& a, const FieldSet& b);
  static FieldSet intersect(const FieldSet& a, const FieldSet& b);
  static FieldSet subtract(const FieldSet& a, const FieldSet& b);

  Json encode() const;  // FieldsV1
  // Errors name the invalid key. Nesting is limited to 256 levels, as for JSON documents.
  static Result<FieldSet> decode(const Json& fields);

 private:
  Entries entries_;
};

struct FieldSet::Entry {
  bool member = false;
  FieldSet below;
};

}  // namespace berth::apiserver
