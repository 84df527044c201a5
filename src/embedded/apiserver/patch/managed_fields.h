// metadata.managedFields: which manager owns which fields of an object.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/json.h"
#include "base/time.h"
#include "embedded/apiserver/patch/field_set.h"
#include "embedded/apiserver/patch/patch.h"

namespace berth::apiserver {

struct Ownership {
  std::string manager, api_version, subresource;
  bool applied = false;  // true: owned by apply; false: by update
  std::optional<Time> time;
  FieldSet fields;

  // Appliers are the same owner whatever their API version; updaters with different versions are different owners.
  using Owner = std::tuple<std::string, std::string, bool, std::string>;
  Owner owner() const { return {manager, subresource, applied, applied ? std::string() : api_version}; }
};

class ManagedFields {
 public:
  // The maximum number of updaters; the oldest are merged into "ancient-changes".
  static constexpr std::size_t kMaxUpdaters = 10;

  // Reads the owners of an object; empty when it has none. Error: an entry cannot be read.
  static Result<ManagedFields> of(const Json& object);
  // Whether the object has `managedFields: [{}]`, a request to reset all ownership.
  static bool requests_reset(const Json& object);

  void write_to(Json& object) const;  // removes managedFields when there are no owners

  bool empty() const { return owners_.empty(); }
  const std::map<Ownership::Owner, Ownership>& owners() const { return owners_; }
  Ownership* find(const Ownership& owner);  // nullptr when absent
  Ownership& at(const Ownership& owner);    // inserted without fields when absent

  // Removes `fields` from every owner except `except` (may be null).
  void take_from_others(const FieldSet& fields, const Ownership* except);
  FieldSet all_fields() const;
  // Drops owners without fields, and fields that cannot be owned (name, uid, resourceVersion, ...).
  void tidy();
  void cap_updaters();
  bool operator==(const ManagedFields& other) const;  // ignores times

 private:
  std::size_t merge_into_ancient(const Ownership* first, const Ownership& updater);
  std::map<Ownership::Owner, Ownership> owners_;
};

Ownership make_owner(const ManagerInfo& manager, bool applied);
// The owner as conflict messages print it: `"kubectl" with subresource "status" using v1`.
std::string describe_owner(const Ownership& owner);

}  // namespace berth::apiserver
