#include "volcano/amount_check.h"

#include <fmt/format.h>

#include <vector>

#include "api/volcano/names.h"

namespace berth::volcano {

using api::FieldErrors;
using api::volcano::Queue;

namespace {

struct Kind {
  std::string_view word, field;
  Amounts QueueAmounts::* own;
  Amounts QueueNode::* of_children;
};
constexpr Kind kGuarantee{"guarantee", "spec.guarantee.resource", &QueueAmounts::guarantee,
                          &QueueNode::children_guarantee};
constexpr Kind kDeserved{"deserved", "spec.deserved", &QueueAmounts::deserved, &QueueNode::children_deserved};

class AmountCheck {
 public:
  AmountCheck(const QueueForest& forest, const Queue& queue)
      : forest_(forest),
        name_(queue.meta.name),
        wanted_(amounts_of(queue)),
        parent_(forest.find(parent_of(queue))),
        present_(forest.find(name_)) {}

  FieldErrors run() && {
    if (parent_ != nullptr && !parent_->is_root()) {
      capability_of_ancestors();
      for (const Kind& kind : {kGuarantee, kDeserved}) sum_of_siblings(kind);
    }
    if (present_ != nullptr && !present_->children.empty()) {
      capability_of_descendants();
      for (const Kind& kind : {kGuarantee, kDeserved}) sum_of_children(kind);
    }
    return std::move(errors_);
  }

 private:
  // A capability of 0 is no limit here, as in Volcano.
  void capability_of_ancestors() {
    for (const auto& [resource, amount] : wanted_.capability) {
      const QueueNode* at = parent_;
      for (std::size_t steps = 0; at != nullptr && !at->is_root() && steps <= forest_.size();
           ++steps, at = at->parent) {
        const Amount limit = amount_of(at->capability, resource);
        if (limit <= Amount()) continue;
        if (amount > limit)
          report("spec.capability", resource, amount,
                 fmt::format("queue {} cannot be capable of more {} than its ancestor {}, which has {}: lower it, or "
                             "raise that one first",
                             name_, resource, at->name, format_amount(resource, limit)));
        break;
      }
    }
  }

  void capability_of_descendants() {
    for (const auto& [resource, amount] : wanted_.capability) {
      if (amount <= Amount()) continue;
      const QueueNode* most = largest_below(*present_, resource);
      if (most == nullptr || amount_of(most->capability, resource) <= amount) continue;
      report("spec.capability", resource, amount,
             fmt::format("queue {} cannot be capable of less {} than its descendant {}, which has {}: raise it, or "
                         "lower that one first",
                         name_, resource, most->name, format_amount(resource, amount_of(most->capability, resource))));
    }
  }

  // The descendant with the largest capability; of equal ones, the first by name. In each branch only the first queue
  // that names the resource counts.
  const QueueNode* largest_below(const QueueNode& top, std::string_view resource) const {
    const QueueNode* most = nullptr;
    std::vector<const QueueNode*> open{&top};
    for (std::size_t looked_at = 0; !open.empty() && looked_at <= forest_.size(); ++looked_at) {
      const QueueNode* at = open.back();
      open.pop_back();
      for (const auto& [name, child] : at->children) {
        const Amount amount = amount_of(child->capability, resource);
        if (amount <= Amount()) {
          open.push_back(child);
        } else if (most == nullptr || amount > amount_of(most->capability, resource) ||
                   (amount == amount_of(most->capability, resource) && child->name < most->name)) {
          most = child;
        }
      }
    }
    return most;
  }

  void sum_of_siblings(const Kind& kind) {
    const QueueNode& parent = *parent_;
    Amounts sums = parent.*kind.of_children;
    const bool counted_already = present_ != nullptr && present_->parent == &parent;
    if (counted_already) {
      for (const auto& [resource, amount] : present_->*kind.own) sums[resource] -= amount;
    }
    for (const auto& [resource, amount] : wanted_.*kind.own) sums[resource] += amount;
    for (const auto& [resource, sum] : sums) {
      const Amount limit = amount_of(parent.*kind.own, resource);
      if (sum <= limit) continue;
      report(kind.field, resource, amount_of(wanted_.*kind.own, resource),
             fmt::format("with it the {} {} of the children of queue {} is {}, more than its own {}: lower it, or "
                         "raise {} of queue {} first",
                         kind.word, resource, parent.name, format_amount(resource, sum), format_amount(resource, limit),
                         kind.word, parent.name));
    }
  }

  void sum_of_children(const Kind& kind) {
    for (const auto& [resource, sum] : present_->*kind.of_children) {
      const Amount own = amount_of(wanted_.*kind.own, resource);
      if (sum <= own) continue;
      report(
          kind.field, resource, own,
          fmt::format(
              "the {} {} of the children of queue {} is {} together, more than that: raise it, or lower theirs first",
              kind.word, resource, name_, format_amount(resource, sum)));
    }
  }

  void report(std::string_view field, std::string_view resource, Amount amount, const std::string& why) {
    errors_.push_back(api::invalid_value(api::field_path(field, resource), Json(format_amount(resource, amount)), why));
  }

  const QueueForest& forest_;
  const std::string& name_;
  const QueueAmounts wanted_;
  const QueueNode* parent_;  // null: does not exist
  // The queue as it is; null when it is new and no other queue names it as its parent.
  const QueueNode* present_;
  FieldErrors errors_;
};

}  // namespace

FieldErrors check_amounts(const QueueForest& forest, const Queue& queue) {
  if (queue.meta.name == api::volcano::kRootQueue) return {};
  return AmountCheck(forest, queue).run();
}

}  // namespace berth::volcano
