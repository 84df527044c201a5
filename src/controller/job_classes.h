// The priority classes that jobs may name, from the caches.
#pragma once

#include "jobs/job_facts.h"
#include "kube/informer.h"

namespace berth::controller {

// The value of a class; nullopt when it does not exist.
std::optional<std::int32_t> class_value(const kube::Informer& classes, std::string_view name);

// Sets the functions of JobFacts that look classes up. The informers must outlive them.
void look_up_classes(const kube::Informer& workload_priority_classes, const kube::Informer& priority_classes,
                     jobs::JobFacts& facts);

}  // namespace berth::controller
