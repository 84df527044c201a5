// The verbs on one resource. Each handler runs to completion in one call: nothing else changes the store meanwhile.
#pragma once

#include <optional>

#include "embedded/apiserver/requests/core.h"

namespace berth::apiserver {

// --- reading (read.cpp) ---
Answer get_object(Core& core, const ResourceInfo& resource, const api::RestRequest& request);
Answer list_objects(Core& core, const ResourceInfo& resource, const api::RestRequest& request);
// Checks resourceVersion and the options of a list or watch; nullopt when they are valid.
std::optional<api::RestResponse> check_list_options(const api::RestRequest& request);

// --- writing (create.cpp, update.cpp, patch.cpp, delete.cpp) ---
Answer create_object(Core& core, const ResourceInfo& resource, api::RestRequest& request);
Answer update_object(Core& core, const ResourceInfo& resource, api::RestRequest& request);
Answer patch_object(Core& core, const ResourceInfo& resource, api::RestRequest& request);
Answer delete_object(Core& core, const ResourceInfo& resource, const api::RestRequest& request);
Answer delete_collection(Core& core, const ResourceInfo& resource, const api::RestRequest& request);

// Creates `object`, which is already decoded.
struct Creation {
  Json object;
  bool track = true;  // compute field ownership here (false for apply, which sets its own)
  std::vector<std::string> warnings;
};
Answer finish_create(Core& core, const ResourceInfo& resource, const api::RestRequest& request, Creation creation);

// Replaces the object in the store with `next`, which is already decoded.
struct Replacement {
  ObjectKey key;
  Json old;  // in the resource's version
  Json next;
  bool track = true;
  std::vector<std::string> warnings;
};
Answer finish_update(Core& core, const ResourceInfo& resource, const api::RestRequest& request,
                     Replacement replacement);

// --- other subresources ---
Answer get_scale(Core& core, const ResourceInfo& resource, const api::RestRequest& request);
Answer write_scale(Core& core, const ResourceInfo& resource, api::RestRequest& request);
Answer bind_pod(Core& core, const ResourceInfo& resource, const api::RestRequest& request);
Answer evict_pod(Core& core, const ResourceInfo& resource, const api::RestRequest& request);
Answer finalize_namespace(Core& core, const ResourceInfo& resource, api::RestRequest& request);

}  // namespace berth::apiserver
