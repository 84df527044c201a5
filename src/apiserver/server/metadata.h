// The rules of metadata that hold for every kind.
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/
#pragma once

#include <string>
#include <string_view>

#include "api/field_error.h"
#include "apiserver/resource.h"
#include "base/json.h"

namespace berth::apiserver {

// Leaves out empty members, as the codec of ObjectMeta does, and makes the object if there is none.
void normalize_metadata(Json& object);
// Drops what a client must not set when it creates an object.
void reset_metadata_for_create(Json& object);
// Members that a client may leave out of an update keep their values; generation always does.
void keep_metadata_for_update(Json& object, const Json& old);

api::FieldErrors validate_metadata(const ResourceInfo& resource, const Json& object);
api::FieldErrors validate_metadata_update(const Json& object, const Json& old);

// Appends what is not among `errors` already: a kind's own rules may repeat the general ones.
void add_new(api::FieldErrors& errors, api::FieldErrors more);

bool is_deleting(const Json& object);
bool has_finalizer(const Json& object, std::string_view finalizer);
// True when something changed.
bool add_finalizer(Json& object, std::string_view finalizer);
bool remove_finalizer(Json& object, std::string_view finalizer);

// Equal but for metadata and, when it is a subresource, status: the part that `generation` counts.
bool same_desired_state(const Json& a, const Json& b, bool status_is_subresource);

inline constexpr std::string_view kOrphanFinalizer = "orphan";
inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";

}  // namespace berth::apiserver
