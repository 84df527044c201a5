// The defaults that Volcano's mutating webhooks set on creation, beyond those of the CustomResourceDefinitions.
#pragma once

#include "base/json.h"

namespace berth::api::volcano {

// Changes weight 0 to 1, sets an absent reclaimable to true, and makes the hierarchy annotations begin at the root.
void default_queue(Json& object);
// Replaces the queue "default" (or none) of a PodGroup by the queue that its namespace names; "": it names none.
void default_pod_group(Json& object, std::string_view queue_of_namespace);

}  // namespace berth::api::volcano
