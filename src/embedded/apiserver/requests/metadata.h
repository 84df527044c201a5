// Rules for metadata that hold for every kind.
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/
#pragma once

#include <string>
#include <string_view>

#include "api/field_error.h"
#include "base/json.h"
#include "embedded/apiserver/resource.h"

namespace berth::apiserver {

// Drops empty members, as the codec of ObjectMeta does; creates metadata when it is missing.
void normalize_metadata(Json& object);
// Drops members that a client must not set on create.
void reset_metadata_for_create(Json& object);
// Copies from `old` the members that a client may omit in an update, and always copies generation.
void keep_metadata_for_update(Json& object, const Json& old);

api::FieldErrors validate_metadata(const ResourceInfo& resource, const Json& object);
api::FieldErrors validate_metadata_update(const Json& object, const Json& old);

// Appends the errors that `errors` does not contain yet: a kind's own rules may repeat the general ones.
void add_new(api::FieldErrors& errors, api::FieldErrors more);

bool is_deleting(const Json& object);
bool has_finalizer(const Json& object, std::string_view finalizer);
// These return true when they changed the object.
bool add_finalizer(Json& object, std::string_view finalizer);
bool remove_finalizer(Json& object, std::string_view finalizer);

// Compares everything except metadata and, when status is a subresource, status. `generation` counts changes of this
// part.
bool same_desired_state(const Json& a, const Json& b, bool status_is_subresource);

inline constexpr std::string_view kOrphanFinalizer = "orphan";
inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";

}  // namespace berth::apiserver
