// An ordered set that knows positions: a B+ tree whose inner nodes count the keys below each of their children.
//
// Inserting, erasing, the position of a key and the key at a position cost O(log n). The keys of a leaf are
// contiguous, so a small set is one short array. All keys must be different.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace berth::engine {

// `Before` may read data that a key refers to; only keys in the set, and arguments, are compared.
template <typename Key, typename Before>
class CountedOrder {
 public:
  explicit CountedOrder(Before before) : before_(std::move(before)) {}
  // The same keys, compared by `before`, which must give the same order.
  CountedOrder(const CountedOrder& other, Before before)
      : before_(std::move(before)), root_(copy(other.root_)), size_(other.size_) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Key& first() const { return root_.first(); }  // it must not be empty

  void insert(const Key& key) {
    if (auto right = insert(root_, key)) {
      auto left = std::make_unique<Node>(std::exchange(root_, Node()));
      add(root_, std::move(left));
      add(root_, std::move(right));
    }
    ++size_;
  }

  // Erases a key, which must be in the set.
  void erase(const Key& key) {
    erase(root_, key);
    --size_;
    while (root_.children.size() == 1) {
      const auto only = std::move(root_.children.front().node);
      root_ = std::move(*only);
    }
  }

  // The number of keys before this one: the 0-based position of a key that is in the set.
  std::size_t position(const Key& key) const {
    std::size_t before = 0;
    const Node* node = &root_;
    while (!node->leaf()) {
      const auto child = node->children.begin() + static_cast<std::ptrdiff_t>(child_for(*node, key));
      for (auto it = node->children.begin(); it != child; ++it) before += it->count;
      node = child->node.get();
    }
    const auto it = std::lower_bound(node->keys.begin(), node->keys.end(), key, before_);
    return before + static_cast<std::size_t>(it - node->keys.begin());
  }

  // The key for which `compare(key)` is 0; nullptr: there is none. compare() says where the wanted key is: before this
  // one (less than 0), or after it.
  template <typename Compare>
  const Key* find(Compare compare) const {
    const Node* node = &root_;
    while (!node->leaf()) {
      const auto behind = std::partition_point(node->children.begin() + 1, node->children.end(),
                                               [&](const Child& child) { return compare(child.first) >= 0; });
      node = std::prev(behind)->node.get();
    }
    const auto at =
        std::partition_point(node->keys.begin(), node->keys.end(), [&](const Key& key) { return compare(key) > 0; });
    return at != node->keys.end() && compare(*at) == 0 ? &*at : nullptr;
  }

  // Calls `visit` for the keys from position `from` on, in order, until it returns false.
  template <typename Visit>
  void visit(std::size_t from, Visit visit) const {
    this->visit(root_, from, visit);
  }

 private:
  static constexpr std::size_t kMost = 64;  // maximum number of keys of a leaf, or children of an inner node

  struct Node;
  struct Child {
    Key first;  // the first key below it; it is always in the set
    std::size_t count = 0;
    std::unique_ptr<Node> node;
  };
  struct Node {
    std::vector<Key> keys;        // of a leaf
    std::vector<Child> children;  // of an inner node
    bool leaf() const { return children.empty(); }
    std::size_t width() const { return keys.size() + children.size(); }
    const Key& first() const { return leaf() ? keys.front() : children.front().first; }
    std::size_t count() const {
      std::size_t all = keys.size();
      for (const Child& child : children) all += child.count;
      return all;
    }
  };

  static Node copy(const Node& node) {
    Node out;
    out.keys = node.keys;
    out.children.reserve(node.children.size());
    for (const Child& child : node.children)
      out.children.push_back({child.first, child.count, std::make_unique<Node>(copy(*child.node))});
    return out;
  }

  // The last child whose first key is not after the key; the first child when the key comes before all.
  std::size_t child_for(const Node& node, const Key& key) const {
    const auto behind = std::upper_bound(node.children.begin() + 1, node.children.end(), key,
                                         [this](const Key& k, const Child& child) { return before_(k, child.first); });
    return static_cast<std::size_t>(behind - node.children.begin()) - 1;
  }

  static void add(Node& parent, std::unique_ptr<Node> node) {
    parent.children.push_back({node->first(), node->count(), std::move(node)});
  }

  template <typename Part>
  static void move_half(std::vector<Part>& from, std::vector<Part>& to) {
    const auto middle = from.begin() + static_cast<std::ptrdiff_t>(from.size() / 2);
    to.assign(std::make_move_iterator(middle), std::make_move_iterator(from.end()));
    from.erase(middle, from.end());
  }

  // If the node is too wide, moves its right half to a new node and returns that; otherwise null.
  static std::unique_ptr<Node> split(Node& node) {
    if (node.width() <= kMost) return nullptr;
    auto right = std::make_unique<Node>();
    if (node.leaf()) {
      move_half(node.keys, right->keys);
    } else {
      move_half(node.children, right->children);
    }
    return right;
  }

  std::unique_ptr<Node> insert(Node& node, const Key& key) {
    if (node.leaf()) {
      node.keys.insert(std::lower_bound(node.keys.begin(), node.keys.end(), key, before_), key);
      return split(node);
    }
    const std::size_t at = child_for(node, key);
    Child& child = node.children[at];
    auto right = insert(*child.node, key);
    child.first = child.node->first();
    ++child.count;
    if (right) {
      const std::size_t moved = right->count();
      child.count -= moved;
      node.children.insert(node.children.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                           Child{right->first(), moved, std::move(right)});
    }
    return split(node);
  }

  void erase(Node& node, const Key& key) {
    if (node.leaf()) {
      node.keys.erase(std::lower_bound(node.keys.begin(), node.keys.end(), key, before_));
      return;
    }
    const std::size_t at = child_for(node, key);
    Child& child = node.children[at];
    erase(*child.node, key);
    if (--child.count == 0) {
      node.children.erase(node.children.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    }
    child.first = child.node->first();
    if (at + 1 < node.children.size()) {
      merge(node, at);
    } else if (at > 0) {
      merge(node, at - 1);
    }
  }

  // Merges two neighbours when together they fill at most half a node.
  static void merge(Node& parent, std::size_t left) {
    Child& into = parent.children[left];
    Child& from = parent.children[left + 1];
    if (into.node->width() + from.node->width() > kMost / 2) return;
    std::move(from.node->keys.begin(), from.node->keys.end(), std::back_inserter(into.node->keys));
    std::move(from.node->children.begin(), from.node->children.end(), std::back_inserter(into.node->children));
    into.count += from.count;
    parent.children.erase(parent.children.begin() + static_cast<std::ptrdiff_t>(left) + 1);
  }

  template <typename Visit>
  static bool visit(const Node& node, std::size_t from, Visit& visit) {
    for (std::size_t i = from; i < node.keys.size(); ++i) {
      if (!visit(node.keys[i])) return false;
    }
    for (const Child& child : node.children) {
      if (from >= child.count) {
        from -= child.count;
      } else {
        if (!CountedOrder::visit(*child.node, from, visit)) return false;
        from = 0;
      }
    }
    return true;
  }

  Before before_;
  Node root_;
  std::size_t size_ = 0;
};

}  // namespace berth::engine
