// The flavors of the cluster, for jobs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "api/kueue/types.h"
#include "jobs/job_facts.h"

namespace berth::controller {

class DecodedFlavors {
 public:
  using Ptr = std::shared_ptr<const api::kueue::ResourceFlavor>;

  void changed(const std::string& name, const Ptr& now);                // null: it is gone
  const api::kueue::ResourceFlavor* find(std::string_view name) const;  // null when unknown
  bool any_with_topology() const;
  // find(), for JobFacts; this object must outlive it.
  jobs::FlavorLookup lookup() const {
    return [this](std::string_view name) { return find(name); };
  }

 private:
  std::map<std::string, Ptr, std::less<>> flavors_;
};

}  // namespace berth::controller
