// Short forms to write Volcano's queues in tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/volcano/names.h"
#include "volcano/admission.h"

namespace berth::volcano::testing {

// "cpu=10,memory=2Gi"; "" gives no amounts.
inline api::ResourceList resources(std::string_view text) {
  api::ResourceList list;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const std::size_t equals = one.find('=');
    list.emplace(one.substr(0, equals), *Quantity::parse(one.substr(equals + 1)));
  }
  return list;
}

struct QueueText {
  std::string_view parent = {}, capability = {}, deserved = {}, guarantee = {}, allocated = {};
  api::volcano::QueueState state = api::volcano::QueueState::kOpen;
};

inline api::volcano::Queue queue(std::string_view name, const QueueText& text = {}) {
  api::volcano::Queue q;
  q.meta.name = name;
  q.meta.uid = std::string(name) + "-uid";
  q.parent = text.parent;
  q.capability = resources(text.capability);
  q.deserved = resources(text.deserved);
  q.guarantee = resources(text.guarantee);
  q.status.allocated = resources(text.allocated);
  q.status.state = text.state;
  return q;
}

inline QueuePtr pointer(api::volcano::Queue q) { return std::make_shared<const api::volcano::Queue>(std::move(q)); }

}  // namespace berth::volcano::testing
