// Selects the objects of a list, watch or deletecollection: by namespace, labels and fields.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/selector.h"
#include "embedded/apiserver/resource.h"

namespace berth::apiserver {

class Selection {
 public:
  // The error is the message of a 400 response.
  static Result<Selection> parse(const ResourceInfo& resource, const api::RestRequest& request);

  // `object` is in the resource's version.
  bool matches(const Json& object) const;
  bool everything() const { return labels_.empty() && fields_.empty(); }
  const std::string& ns() const { return ns_; }      // empty: all namespaces
  const std::string& name() const { return name_; }  // not empty: only the object with this name
  // The prefix of the keys of all matching objects.
  std::string prefix() const;

 private:
  std::string ns_, name_;
  api::LabelSelector labels_;
  std::vector<api::FieldRequirement> fields_;
  std::function<std::optional<std::string>(const Json&, std::string_view)> field_;
};

}  // namespace berth::apiserver
