// Whether two pod templates mean the same to Kubernetes, however they are written.
#pragma once

#include <string>

#include "base/json.h"

namespace berth::jobs {

// Compares the parts of two pod specs that decide what runs and how much it requests. Where it may run
// (`placement_too`) is compared only on demand: admission adds to it. An API server stores a template as its schema
// says: it drops unknown members and nulls and adds defaults. So the template of a Workload may differ in these from
// the template of its job, which has another schema, and a pod has tolerations that the server adds. Empty lists,
// objects and texts count as absent. Quantities are compared by their value. Returns the first difference, such as
// 'spec.containers[0].image: "x" and "y"'; "" when there is none.
std::string template_difference(const Json& a, const Json& b, bool placement_too);
inline bool same_template(const Json& a, const Json& b, bool placement_too) {
  return template_difference(a, b, placement_too).empty();
}

}  // namespace berth::jobs
