// How simulated users send requests: without waiting for the answers, about objects chosen at random.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/json.h"
#include "embedded/simulate/lab_names.h"

namespace berth::simulation {

Json yaml(const std::string& text);  // the first document; the text must be valid
std::string number(std::uint64_t n);
std::string pick(simulate::Random& random, std::initializer_list<const char*> choices);

class Hands {
 public:
  Hands(api::RestClient& client, simulate::Random& random) : client_(client), random_(random) {}

  // Errors are ignored: a user's command may fail.
  void create(const api::GroupVersionResource& resource, const std::string& ns, Json object);
  void patch(const api::GroupVersionResource& resource, const std::string& subresource, const Json& object, Json body);
  void remove(const api::GroupVersionResource& resource, const Json& object, const std::string& propagation);

  // Returns the merge patch for the object; null: do not change it.
  using Patch = std::function<Json(const Json& object)>;
  void patch_some(const api::GroupVersionResource& resource, std::string subresource, Patch make);
  void patch_all(const api::GroupVersionResource& resource, std::string subresource, Patch make);
  void remove_some(const api::GroupVersionResource& resource);
  void list(const api::GroupVersionResource& resource, std::function<void(std::vector<Json>)> then);

 private:
  api::RestClient& client_;
  simulate::Random& random_;
};

}  // namespace berth::simulation
