// What the cluster has of devices: templates of claims, classes and slices.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "api/devices/types.h"

namespace berth::jobs::devices {

template <typename T>
using ByName = std::map<std::string, std::shared_ptr<const T>, std::less<>>;

struct Inventory {
  const ByName<api::ResourceClaimTemplate>& templates;  // by "namespace/name"
  const ByName<api::DeviceClass>& classes;
  const ByName<api::ResourceSlice>& slices;

  std::shared_ptr<const api::ResourceClaimTemplate> claim_template(std::string_view ns, std::string_view name) const;
  std::shared_ptr<const api::DeviceClass> device_class(std::string_view name) const;
  // The class that gives out this extended resource: of several the youngest, then the first by name; null: none does.
  std::shared_ptr<const api::DeviceClass> class_of_resource(std::string_view extended_resource) const;
};

// Calls visit(slice) for each slice of the driver whose devices can be allocated: of each pool those of the newest
// generation, if all of them are there.
using VisitSlice = std::function<void(const api::ResourceSlice& slice)>;
void for_each_complete_slice(const Inventory& inventory, std::string_view driver, const VisitSlice& visit);

}  // namespace berth::jobs::devices
