#include "volcano/admission.h"

#include <fmt/format.h>

#include "api/volcano/names.h"
#include "volcano/amount_check.h"

namespace berth::volcano {

using api::FieldErrors;
using api::volcano::Queue;
using api::volcano::QueueState;
using End = QueueForest::Way::End;

namespace {

constexpr std::string_view kParent = "spec.parent";

FieldErrors refuse(std::string_view field, std::string_view value, std::string_view why) {
  return {api::invalid_value(std::string(field), Json(value), why)};
}

std::int64_t allocated_pods(const QueueNode& node) {
  if (node.object == nullptr) return 0;
  const auto& allocated = node.object->status.allocated;
  const auto pods = allocated.find(api::volcano::kPods);
  return pods == allocated.end() ? 0 : pods->second.value();
}

// "1 pod", "3 pods".
std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string names_of(const QueueNode& node) {
  constexpr int kAtMost = 10;
  std::string out;
  int count = 0;
  for (const auto& [name, child] : node.children) {
    if (count == kAtMost) return out + ", ...";
    out.append(count++ == 0 ? "" : ", ").append(name);
  }
  return out;
}

bool same_amounts(const Queue& a, const Queue& b) {
  return a.capability == b.capability && a.deserved == b.deserved && a.guarantee == b.guarantee;
}

}  // namespace

FieldErrors Admission::create(const Queue& queue) const {
  FieldErrors errors = hierarchy_path_check(queue);
  if (errors.empty()) errors = parent_check(queue);
  if (errors.empty()) errors = check_amounts(forest_, queue);
  return errors;
}

FieldErrors Admission::update(const Queue& queue, const Queue& old) const {
  FieldErrors errors = hierarchy_path_check(queue);
  const bool moved = parent_of(queue) != parent_of(old);  // naming root instead of no parent is no move
  if (errors.empty() && moved) errors = parent_check(queue);
  const bool amounts_changed = !same_amounts(queue, old);
  if (errors.empty() && amounts_changed && options_.protect_root && queue.meta.name == api::volcano::kRootQueue) {
    errors.push_back(api::forbidden_field(
        "spec", "capability, deserved and guarantee of the queue root cannot be changed: limit the queues below it"));
  }
  if (errors.empty() && (moved || amounts_changed)) errors = check_amounts(forest_, queue);
  return errors;
}

FieldErrors Admission::hierarchy_path_check(const Queue& queue) const {
  const auto path = queue.meta.annotations.find(api::volcano::kHierarchy);
  if (path == queue.meta.annotations.end() || path->second.empty()) return {};
  const std::string_view other = forest_.goes_on(path->second, queue.meta.name);
  if (other.empty()) return {};
  return refuse(api::key_path("metadata.annotations", api::volcano::kHierarchy), path->second,
                fmt::format("the hierarchy of queue {} goes through it: end it in a place of its own", other));
}

// The checks of Volcano's webhook, in its order.
FieldErrors Admission::parent_check(const Queue& queue) const {
  const std::string& name = queue.meta.name;
  const std::string_view parent_name = parent_of(queue);
  const QueueNode* self = forest_.find(name);
  const bool is_root = name == api::volcano::kRootQueue;
  if (parent_name == name && !is_root)
    return refuse(kParent, parent_name,
                  fmt::format("queue {} cannot be its own parent: name another queue, or none to be below root", name));
  if (parent_name == api::volcano::kRootQueue) return {};

  const QueueNode* parent = forest_.find(parent_name);
  if (parent == nullptr || !parent->exists())
    return refuse(
        kParent, parent_name,
        fmt::format("there is no queue {}: create it first, or name another parent for queue {}", parent_name, name));
  if (options_.refuse_circles && self != nullptr && forest_.is_below(*parent, *self))
    return refuse(
        kParent, parent_name,
        fmt::format("queue {0} is below queue {1}, so {1} cannot be below it: move {0} out first", parent_name, name));
  if (FieldErrors errors = way_check(queue, *parent); !errors.empty()) return errors;
  if (!parent->children.empty()) return {};  // already a parent: what runs below it does not run in it
  const std::string busy = occupation(*parent);
  if (busy.empty()) return {};
  return refuse(kParent, parent_name,
                fmt::format("queue {} cannot become the parent of queue {} while {} in it: let them finish, or name "
                            "another parent",
                            parent_name, name, busy));
}

// Checks that the new parent leads to root, and that the queue and the queues that move with it stay within the depth
// limit.
FieldErrors Admission::way_check(const Queue& queue, const QueueNode& parent) const {
  const std::string& name = queue.meta.name;
  const QueueNode* self = forest_.find(name);
  const QueueForest::Way way = forest_.way_up(parent);
  if (way.end == End::kMissing)
    return refuse(kParent, parent.name,
                  fmt::format("the way from queue {} to root ends at queue {}, which does not exist: create it first, "
                              "or name another parent for queue {}",
                              parent.name, way.last->name, name));
  if (way.end == End::kCircle)
    return refuse(
        kParent, parent.name,
        fmt::format("the way up from queue {} runs in a circle through queue {}: give that one another parent first",
                    parent.name, way.last->name));
  const int below = options_.measure_moved_subtree && self != nullptr ? forest_.height(*self) : 0;
  const int level = way.level + 1 + below;
  if (level > options_.max_depth)
    return refuse(kParent, parent.name,
                  fmt::format("queue {} would {} {} below root, the limit is {}: name a parent closer to root", name,
                              below == 0 ? "be at level" : "reach down to level", level, options_.max_depth));
  return {};
}

std::string Admission::occupation(const QueueNode& node) const {
  if (const std::int64_t pods = allocated_pods(node); pods != 0)
    return counted(pods, "pod") + (pods == 1 ? " is allocated" : " are allocated");
  const std::size_t holders = options_.count_reservations ? holders_in_(node.name) : 0;
  if (holders == 0) return {};
  return counted(static_cast<std::int64_t>(holders), "workload") + (holders == 1 ? " holds quota" : " hold quota");
}

Result<void> Admission::remove(std::string_view name) const {
  if (name == api::volcano::kDefaultQueue || name == api::volcano::kRootQueue)
    return fail(fmt::format("queue {} cannot be deleted: it always exists", name));
  const QueueNode* node = forest_.find(name);
  if (node == nullptr || node->object == nullptr)
    return fail(fmt::format("queue {} cannot be deleted: there is none of that name", name));
  if (const std::string busy = options_.delete_only_unallocated ? occupation(*node) : std::string(); !busy.empty())
    return fail(fmt::format("queue {} cannot be deleted: {} in it: close it and let them finish", name, busy));
  if (!node->children.empty())
    return fail(fmt::format("queue {} cannot be deleted: it has {} child queue(s): {}. Delete or move them first", name,
                            node->children.size(), names_of(*node)));
  return {};
}

FieldErrors Admission::takes_work(std::string_view name, bool leaf_only) const {
  constexpr std::string_view kQueue = "spec.queue";
  const QueueNode* node = forest_.find(name);
  if (node == nullptr || node->object == nullptr)
    return refuse(kQueue, name, fmt::format("there is no queue {}: create it first, or name another", name));
  const QueueState state = node->object->status.state;
  if (state != QueueState::kOpen && state != QueueState::kNone)
    return refuse(kQueue, name, fmt::format("queue {} is {}: open it first, or name another", name, name_of(state)));
  if (!leaf_only) return {};
  if (node->is_root())
    return refuse(kQueue, name, "the queue root takes no work itself: name a queue without children below it");
  if (!node->children.empty())
    return refuse(
        kQueue, name,
        fmt::format("queue {} has {} child queue(s) and takes no work itself: name one without children, as {}", name,
                    node->children.size(), names_of(*node)));
  return {};
}

FieldErrors Admission::create(const api::volcano::PodGroup& group) const {
  return takes_work(group.queue, options_.pod_groups_in_leaves_only);
}

FieldErrors Admission::create(const api::volcano::Job& job) const { return takes_work(job.queue, true); }

}  // namespace berth::volcano
