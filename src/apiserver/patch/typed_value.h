// JSON values read with a schema, as server-side apply sees them: which fields a value sets, what differs
// between two values, how a configuration merges into a live object.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/patch/field_set.h"
#include "apiserver/schema/schema.h"
#include "base/json.h"

namespace berth::apiserver {

// A place in a schema. Without a schema (unknown fields that are preserved) the value itself tells: maps are
// granular, lists atomic.
class TypeRef {
 public:
  TypeRef() = default;
  static TypeRef root(const Schema& schema) { return TypeRef(&schema, true); }

  struct Member;
  Member member(std::string_view name) const;
  TypeRef item() const;

  // How a value of this type is owned: as a whole, by field, by value or by key.
  enum class Shape { kLeaf, kMap, kSet, kKeyedList };
  Shape shape(const Json& value) const;

  // The element of a list's member; nullopt when a key is missing and has no default, or a set's member is no
  // scalar.
  std::optional<PathElement> element(const Json& item) const;

  const Schema* schema() const { return schema_; }

 private:
  explicit TypeRef(const Schema* schema, bool has_metadata) : schema_(schema), has_metadata_(has_metadata) {}
  const Schema* schema_ = nullptr;
  bool has_metadata_ = false;  // its "metadata" is an ObjectMeta, whatever the schema says
};
struct TypeRef::Member {
  TypeRef type;
  bool named = false;     // a field of the schema, not a key of a map
  bool declared = false;  // the schema allows it
};

// What makes a configuration impossible to apply: fields that the schema does not know, values of another
// type, list members without their keys or twice. One text for all of them; empty when there is nothing to
// say.
std::string check_typed(const Json& value, const Schema& schema);

// The fields that a value sets: leaves, and members of lists and maps.
FieldSet fields_of(const Json& value, const Schema& schema);

struct Comparison {
  FieldSet added, modified, removed;
  bool same() const { return added.empty() && modified.empty() && removed.empty(); }
};
Comparison compare_typed(const Json& before, const Json& after, const Schema& schema);

// `live` with what `config` sets. Lists by key or value keep the configuration's order for its own members.
Json merge_typed(const Json& live, const Json& config, const Schema& schema);

// Removes what `last` owned and `owned` does not.
void remove_unowned(Json& value, const Schema& schema, const FieldSet& last, const FieldSet& owned);

}  // namespace berth::apiserver
