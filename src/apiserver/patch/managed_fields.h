// metadata.managedFields: who owns which fields of an object.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/patch/field_set.h"
#include "apiserver/patch/patch.h"
#include "base/json.h"
#include "base/time.h"

namespace berth::apiserver {

struct Ownership {
  std::string manager, api_version, subresource;
  bool applied = false;  // by apply; else by an update
  std::optional<Time> time;
  FieldSet fields;

  // Appliers are one whatever version they use; updaters are told apart by it.
  bool same_owner(const Ownership& other) const {
    return manager == other.manager && subresource == other.subresource && applied == other.applied &&
           (applied || api_version == other.api_version);
  }
};

class ManagedFields {
 public:
  // No more updaters than this are told apart; the oldest are merged into "ancient-changes".
  static constexpr std::size_t kMaxUpdaters = 10;

  // Of an object; empty when it has none. Errors when an entry cannot be read.
  static Result<ManagedFields> of(const Json& object);
  // What `{metadata: {managedFields: [{}]}}` asks for: forget all owners.
  static bool asks_for_reset(const Json& object);

  void write_to(Json& object) const;  // removes the member when nobody owns anything

  bool empty() const { return owners_.empty(); }
  std::vector<Ownership>& owners() { return owners_; }
  const std::vector<Ownership>& owners() const { return owners_; }
  Ownership* find(const Ownership& owner);  // by same_owner; nullptr when absent
  Ownership& at(const Ownership& owner);    // made without fields when absent

  // Removes fields from every owner but `except` (may be null).
  void take_from_others(const FieldSet& fields, const Ownership* except);
  FieldSet all_fields() const;
  // Drops owners of nothing, and the fields that nobody can own (name, uid, resourceVersion, ...).
  void tidy();
  void cap_updaters();
  bool operator==(const ManagedFields& other) const;  // times aside

 private:
  std::vector<Ownership> owners_;
};

Ownership make_owner(const ManagerInfo& manager, bool applied);
// `"kubectl" with subresource "status" using v1`, as conflicts print it.
std::string describe_owner(const Ownership& owner);

}  // namespace berth::apiserver
