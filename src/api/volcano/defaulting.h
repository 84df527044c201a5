// What Volcano's mutating webhooks do when an object is created, beyond the defaults of the CustomResourceDefinitions.
#pragma once

#include "base/json.h"

namespace berth::api::volcano {

// A weight of 0 is 1, reclaimable is true when it is not said, and hierarchy annotations begin at the root.
void default_queue(Json& object);
// A group that names the queue "default" waits in the queue of its namespace, where the namespace names one.
void default_pod_group(Json& object, std::string_view queue_of_namespace);

}  // namespace berth::api::volcano
