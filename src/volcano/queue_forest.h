// The tree of Volcano's queues as their objects say it, kept up to date one queue at a time: who is below whom, what
// each is entitled to, and the sums over its children. Objects may be wrong in every way; nothing here depends on their
// being right.
//
// A change costs what the queue itself names and a look-up, whatever the size of the tree.
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

// What is not named is 0.
Amount amount_of(const Amounts& amounts, std::string_view resource);

// What a queue is entitled to.
struct QueueAmounts {
  Amounts capability;  // as written
  Amounts guarantee;   // as written; zeros are left out here and below
  Amounts deserved;    // at least the guarantee
};
QueueAmounts amounts_of(const api::volcano::Queue& queue);

struct QueueNode : QueueAmounts {
  std::string name;
  QueuePtr object;              // null: only others name it, as their parent; or root, which is there without an object
  QueueNode* parent = nullptr;  // null: root, or no object says
  std::map<std::string_view, QueueNode*> children;  // by name
  Amounts children_guarantee, children_deserved;    // sums

  bool is_root() const;
  bool exists() const { return object != nullptr || is_root(); }
};

class QueueForest {
 public:
  QueueForest();
  QueueForest(const QueueForest&) = delete;
  QueueForest& operator=(const QueueForest&) = delete;

  // Created or changed. A queue that names no parent is below root; what root names as its parent counts for nothing.
  void set(QueuePtr queue);
  void remove(std::string_view name);  // its children go on naming it

  const QueueNode& root() const { return *root_; }
  const QueueNode* find(std::string_view name) const;  // nullptr: neither an object nor anybody's parent
  std::size_t size() const { return nodes_.size(); }
  const std::map<std::string, QueueNode, std::less<>>& nodes() const { return nodes_; }

  // The way from a queue up to root.
  struct Way {
    enum class End : std::uint8_t { kRoot, kMissing, kCircle };
    End end = End::kRoot;
    int level = 0;  // hops to root; 1: directly below it. Only with kRoot
    const QueueNode* last = nullptr;  // where it ends: root, the one that does not exist, or one in the circle
  };
  Way way_up(const QueueNode& node) const;
  // Hops from the queue down to the furthest below it; 0: a leaf. In a circle: at least the number of queues.
  int height(const QueueNode& node) const;
  bool is_below(const QueueNode& node, const QueueNode& ancestor) const;  // or the same

  // Another queue whose hierarchy annotation goes on where `path` ends, "" when there is none.
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

// The parent that counts: root where none is named. Not for root itself.
std::string_view parent_of(const api::volcano::Queue& queue);

}  // namespace berth::volcano
