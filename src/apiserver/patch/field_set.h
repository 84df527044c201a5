// Sets of fields of an object, and the FieldsV1 form in which managedFields carries them.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace berth::apiserver {

// One step of a path: a field of a map, a member of a list by its keys or by its value, or a member by its
// index.
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

// A trie of paths. A path may be a member by itself, have members below it, or both.
class FieldSet {
 public:
  struct Entry;

  bool empty() const { return entries_.empty(); }
  const std::vector<Entry>& entries() const { return entries_; }  // ordered by element
  bool contains(const FieldPath& path) const;
  void insert(const FieldPath& path);                   // the empty path is ignored
  const Entry* find(const PathElement& element) const;  // nullptr when absent
  Entry& at(const PathElement& element);                // made when absent
  // Drops the entry at the path with all below it.
  void erase_below(const FieldPath& path);
  void for_each(const std::function<void(const FieldPath&)>& visit) const;  // all members, in order
  bool operator==(const FieldSet& other) const;

  // Member by member: a path in `b` says nothing about the paths below it.
  static FieldSet unite(const FieldSet& a, const FieldSet& b);
  static FieldSet intersect(const FieldSet& a, const FieldSet& b);
  static FieldSet subtract(const FieldSet& a, const FieldSet& b);

  Json encode() const;  // FieldsV1
  // Errors name the key that cannot be read. Nests at most 256 deep, as JSON documents do.
  static Result<FieldSet> decode(const Json& fields);

 private:
  std::vector<Entry> entries_;
};

struct FieldSet::Entry {
  PathElement element;
  bool member = false;
  FieldSet below;
};

}  // namespace berth::apiserver
