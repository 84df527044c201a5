#include "engine/queue/shape.h"

#include <charconv>

#include "engine/quota/free_list.h"

namespace berth::engine {
namespace {

// Builds an unambiguous text of a request: strings are preceded by their length.
class Key {
 public:
  Key() { text_.reserve(kUsualSize); }
  void add(std::string_view s) {
    number(static_cast<std::int64_t>(s.size()), ':');
    text_ += s;
  }
  void add(std::int64_t v) { number(v, ';'); }
  std::string take() { return std::move(text_); }

 private:
  static constexpr std::size_t kUsualSize = 256;
  void number(std::int64_t v, char end) {
    char digits[24];
    auto [last, error] = std::to_chars(digits, digits + sizeof digits, v);
    *last++ = end;
    text_.append(digits, last);
  }
  std::string text_;
};

void add_resources(Key& key, const api::ResourceList& list) {
  key.add(static_cast<std::int64_t>(list.size()));
  for (const auto& [resource, quantity] : list) {
    key.add(resource);
    key.add(to_amount(resource, quantity).count());
  }
}

void add_term(Key& key, const api::NodeSelectorTerm& term) {
  for (const auto* list : {&term.expressions, &term.fields}) {
    key.add(static_cast<std::int64_t>(list->size()));
    for (const auto& requirement : *list) {
      key.add(requirement.key);
      key.add(requirement.op);
      for (const auto& value : requirement.values) key.add(value);
      key.add("/");
    }
  }
}

void add_constraints(Key& key, const api::NodeConstraints& constraints) {
  for (const auto& [label, value] : constraints.node_selector) {
    key.add(label);
    key.add(value);
  }
  for (const auto& term : constraints.required_terms) {
    key.add("term");
    add_term(key, term);
  }
  for (const auto& preferred : constraints.preferred_terms) {
    key.add("preferred");
    key.add(preferred.weight);
    add_term(key, preferred.term);
  }
  for (const auto& toleration : constraints.tolerations) {
    key.add("toleration");
    for (const auto* s : {&toleration.key, &toleration.op, &toleration.value, &toleration.effect}) key.add(*s);
    key.add(toleration.toleration_seconds.value_or(-1));
  }
}

// Only what influences placement; labels that merely index the pods do not.
void add_topology(Key& key, const api::kueue::TopologyRequest& request) {
  key.add("topology");
  for (const auto& level : {request.required, request.preferred}) {
    key.add(level ? 1 : 0);
    key.add(level.value_or(""));
  }
  key.add(request.unconstrained.value_or(false) ? 1 : 0);
  key.add(request.slice_required_topology);
  key.add(request.slice_size.value_or(-1));
  for (const auto& layer : request.slice_constraints) {
    key.add(layer.topology);
    key.add(layer.size);
  }
}

void add_spreading(Key& key, const api::kueue::TopologySpreading& spreading) {
  key.add("spreading");
  key.add(spreading.ns);
  key.add(spreading.label);
  for (const auto& value : spreading.values) key.add(value);
  key.add("/");
  for (const auto& rule : spreading.rules) {
    key.add(rule.topology_key);
    key.add(rule.most_share);
    key.add(rule.preferred ? 1 : 0);
  }
}

bool wants_places(const PodSetRequest& request) { return request.topology && request.topology->explicit_request(); }

std::string key_of(const std::vector<PodSetRequest>& pod_sets) {
  Key key;
  for (const PodSetRequest& pod_set : pod_sets) {
    key.add("podset");
    key.add(pod_set.name);
    key.add(pod_set.count);
    key.add(pod_set.min_count.value_or(pod_set.count));
    key.add(pod_set.group);
    add_resources(key, pod_set.per_pod);
    if (pod_set.counted) add_resources(key, *pod_set.counted);
    add_constraints(key, pod_set.constraints);
    if (wants_places(pod_set)) add_topology(key, *pod_set.topology);
    if (pod_set.spreading) add_spreading(key, *pod_set.spreading);
  }
  return key.take();
}

}  // namespace

ShapeId ShapeTable::acquire(const std::vector<PodSetRequest>& pod_sets, Names& names) {
  std::string key = key_of(pod_sets);
  if (auto it = by_key_.find(key); it != by_key_.end()) {
    ++slots_[it->second.index()].users;
    return it->second;
  }
  const ShapeId id = free_slot(slots_, free_);
  Slot& slot = slots_[id.index()];
  slot.shape = Shape();
  for (const PodSetRequest& request : pod_sets) {
    Shape::PodSet pod_set;
    pod_set.name = request.name;
    pod_set.count = request.count;
    pod_set.min_count = request.min_count.value_or(request.count);
    pod_set.group = request.group;
    pod_set.per_pod = amounts_of(request.per_pod, names);
    pod_set.counted = request.counted ? amounts_of(*request.counted, names) : pod_set.per_pod;
    pod_set.constraints = request.constraints;
    if (wants_places(request)) pod_set.topology = request.topology;
    pod_set.spreading = request.spreading;
    slot.shape.reducible = slot.shape.reducible || pod_set.min_count < pod_set.count;
    slot.shape.pod_sets.push_back(std::move(pod_set));
  }
  slot.users = 1;
  slot.key = key;
  by_key_.emplace(std::move(key), id);
  return id;
}

bool ShapeTable::release(ShapeId id) {
  Slot& slot = slots_[id.index()];
  if (--slot.users > 0) return false;
  by_key_.erase(slot.key);
  slot = Slot();
  free_.push_back(id);
  return true;
}

}  // namespace berth::engine
