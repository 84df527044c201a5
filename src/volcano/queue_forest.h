// The tree of Volcano's queues as their objects describe it, updated one queue at a time: the parent and children of
// each queue, what it is entitled to, and the sums over its children. Objects may be wrong in any way; nothing here
// requires them to be valid.
//
// The cost of a change depends on what the queue itself names, plus a look-up, and not on the size of the tree.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api/volcano/types.h"
#include "base/amount.h"

namespace berth::volcano {

using Amounts = std::map<std::string, Amount, std::less<>>;  // by resource
using QueuePtr = std::shared_ptr<const api::volcano::Queue>;

// 0 when the resource is not named.
Amount amount_of(const Amounts& amounts, std::string_view resource);

// What a queue is entitled to.
struct QueueAmounts {
  Amounts capability;  // as written
  Amounts guarantee;   // as written; amounts <= 0 are left out, also in deserved
  Amounts deserved;    // at least the guarantee
};
QueueAmounts amounts_of(const api::volcano::Queue& queue);

struct QueueNode : QueueAmounts {
  std::string name;
  // Null: the queue exists only as a parent that others name, or it is root without an object.
  QueuePtr object;
  QueueNode* parent = nullptr;                      // null: root, or there is no object that names a parent
  std::map<std::string_view, QueueNode*> children;  // by name
  Amounts children_guarantee, children_deserved;    // sums over the children

  bool is_root() const;
  bool exists() const { return object != nullptr || is_root(); }
};

class QueueForest {
 public:
  QueueForest();
  QueueForest(const QueueForest&) = delete;
  QueueForest& operator=(const QueueForest&) = delete;

  // A queue was created or changed. A queue that names no parent is below root; a parent that root names is ignored.
  void set(QueuePtr queue);
  void remove(std::string_view name);  // its children still name it

  const QueueNode& root() const { return *root_; }
  // nullptr: the queue has no object, and no other queue names it as its parent.
  const QueueNode* find(std::string_view name) const;
  std::size_t size() const { return nodes_.size(); }
  const std::map<std::string, QueueNode, std::less<>>& nodes() const { return nodes_; }

  // The path from a queue up to root.
  struct Way {
    enum class End : std::uint8_t { kRoot, kMissing, kCircle };
    End end = End::kRoot;
    int level = 0;                    // steps to root; 1: directly below it; only with kRoot
    const QueueNode* last = nullptr;  // where it ends: root, the missing queue, or a queue in the cycle
  };
  Way way_up(const QueueNode& node) const;
  // The number of levels below the queue; 0: it is a leaf. In a cycle: the number of queues.
  int height(const QueueNode& node) const;
  bool is_below(const QueueNode& node, const QueueNode& ancestor) const;  // or is the same

  // Another queue whose hierarchy annotation continues `path`; "" when there is none.
  std::string_view goes_on(std::string_view path, std::string_view own_name) const;

 private:
  QueueNode& node_of(std::string_view name);
  void link(QueueNode& node, QueueNode* parent);
  void unlink(QueueNode& node);
  void take_values(QueueNode& node, QueuePtr queue);
  void drop_if_unused(QueueNode& node);

  std::map<std::string, QueueNode, std::less<>> nodes_;
  QueueNode* root_ = nullptr;
  std::set<std::pair<std::string, std::string>, std::less<>> paths_;  // (hierarchy annotation, queue)
};

// The effective parent: root when the queue names none. Not for root itself.
std::string_view parent_of(const api::volcano::Queue& queue);

}  // namespace berth::volcano
