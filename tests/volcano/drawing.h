// The queues and formulas in their simplest form; tests compare the quota tree with them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "volcano/queue_forest.h"

namespace berth::volcano::testing {

// Amounts in the units of the engine.
class Drawing {
 public:
  std::map<std::string, api::volcano::Queue> queues;                // root among them when it has an object
  std::map<std::string, std::map<std::string, std::int64_t>> used;  // by queue, resource

  static constexpr std::int64_t kInfinite = std::int64_t{1} << 60;

  std::vector<std::string> children(const std::string& name) const {
    std::vector<std::string> out;
    for (const auto& [child, q] : queues)
      if (child != "root" && parent(child) == name) out.push_back(child);
    return out;
  }
  std::string parent(const std::string& name) const { return std::string(parent_of(queues.at(name))); }
  std::int64_t guarantee(const std::string& name, const std::string& r) const {
    return number(queues.at(name).guarantee, r, 0);
  }
  std::int64_t deserved(const std::string& name, const std::string& r) const {
    return std::max(number(queues.at(name).deserved, r, 0), guarantee(name, r));
  }
  std::int64_t capability(const std::string& name, const std::string& r) const {
    const auto it = queues.find(name);
    return it == queues.end() ? kInfinite : number(it->second.capability, r, kInfinite);
  }
  std::int64_t guarantees_below(const std::string& name, const std::string& r) const {
    std::int64_t sum = 0;
    for (const auto& child : children(name)) sum += guarantee(child, r);
    return sum;
  }
  // Volcano's real capability: the most that can ever be used in the queue and below it.
  std::int64_t ceiling(const std::string& name, const std::string& r) const {
    if (name == "root") return capability(name, r);
    const std::int64_t from_parent = ceiling(parent(name), r) - guarantees_below(parent(name), r) + guarantee(name, r);
    return std::min(from_parent, capability(name, r));
  }
  // What is used in the queue and below it, or guaranteed to queues below it.
  std::int64_t load(const std::string& name, const std::string& r) const {
    const auto own = used.find(name);
    std::int64_t sum = own == used.end() || !own->second.contains(r) ? 0 : own->second.at(r);
    for (const auto& child : children(name)) sum += std::max(load(child, r), guarantee(child, r));
    return sum;
  }
  // How much more can be used in the queue now.
  std::int64_t headroom(const std::string& name, const std::string& r) const {
    if (name == "root") return capability(name, r) - load(name, r);
    const std::int64_t kept = std::max<std::int64_t>(0, guarantee(name, r) - load(name, r));
    return std::min(capability(name, r) - load(name, r), kept + headroom(parent(name), r));
  }

 private:
  static std::int64_t number(const api::ResourceList& list, const std::string& r, std::int64_t otherwise) {
    const auto it = list.find(r);
    return it == list.end() ? otherwise : to_amount(r, it->second).count();
  }
};

}  // namespace berth::volcano::testing
