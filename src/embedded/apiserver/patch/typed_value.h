// JSON values interpreted with a schema, as server-side apply does: which fields a value sets, how two values differ,
// how a configuration is merged into a live object.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "embedded/apiserver/patch/field_set.h"
#include "embedded/apiserver/schema/schema.h"

namespace berth::apiserver {

// A position in a schema. Without a schema (preserved unknown fields) the shape depends on the value: maps are
// granular, lists atomic.
class TypeRef {
 public:
  TypeRef() = default;
  static TypeRef root(const Schema& schema) { return TypeRef(&schema, true); }

  struct Member;
  Member member(std::string_view name) const;
  TypeRef item() const;

  // How ownership of a value of this type is tracked: as a whole, by field, by value or by key.
  enum class Shape { kLeaf, kMap, kSet, kKeyedList };
  Shape shape(const Json& value) const;

  // The path element of a list item; nullopt when a key is missing and has no default, or the item of a set is not a
  // scalar.
  std::optional<PathElement> element(const Json& item) const;

  const Schema* schema() const { return schema_; }

 private:
  explicit TypeRef(const Schema* schema, bool has_metadata) : schema_(schema), has_metadata_(has_metadata) {}
  const Schema* schema_ = nullptr;
  bool has_metadata_ = false;  // its "metadata" is an ObjectMeta, even if the schema does not say so
};
struct TypeRef::Member {
  TypeRef type;
  bool named = false;     // a field of the schema, not a key of a map
  bool declared = false;  // the schema allows it
};

// The errors that prevent applying a configuration: unknown fields, values of the wrong type, list items with missing
// keys, duplicate items. One text with all of them; empty when there are none.
std::string check_typed(const Json& value, const Schema& schema);

// The fields that a value sets: leaves, and items of lists and maps.
FieldSet fields_of(const Json& value, const Schema& schema);

struct Comparison {
  FieldSet added, modified, removed;
  bool same() const { return added.empty() && modified.empty() && removed.empty(); }
};
Comparison compare_typed(const Json& before, const Json& after, const Schema& schema);

// `live` with the fields of `config` merged in. In lists merged by key or value, the items of `config` keep their
// order.
Json merge_typed(const Json& live, const Json& config, const Schema& schema);

// Removes the fields that are in `last` and not in `owned`.
void remove_unowned(Json& value, const Schema& schema, const FieldSet& last, const FieldSet& owned);

}  // namespace berth::apiserver
