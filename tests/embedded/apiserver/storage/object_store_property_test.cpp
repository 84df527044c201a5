// The store compared with a std::map, and its history with all states that it had.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "embedded/apiserver/storage/object_store.h"

namespace berth::apiserver::object_store_property_test {
namespace {

struct Op {
  enum Kind { kPut, kStalePut, kRemove, kSettle } kind;
  int bucket, item;
};

rc::Gen<Op> any_op() {
  return rc::gen::map(rc::gen::tuple(rc::gen::weightedElement<int>(
                                         {{5, Op::kPut}, {1, Op::kStalePut}, {2, Op::kRemove}, {2, Op::kSettle}}),
                                     rc::gen::inRange(0, 2), rc::gen::inRange(0, 6)),
                      [](const std::tuple<int, int, int>& t) {
                        return Op{static_cast<Op::Kind>(std::get<0>(t)), std::get<1>(t), std::get<2>(t)};
                      });
}

struct Entry {
  Revision revision;
  int value;
  bool operator==(const Entry&) const = default;
};
using Model = std::map<std::string, Entry>;  // by full key

ObjectKey key_for(const Op& op) {
  return key_of(op.bucket == 0 ? "a/x/" : "b/x/", op.item < 3 ? "n" : "n-2", "i" + std::to_string(op.item));
}

Model read(const ObjectStore& store, Revision at) {
  Model model;
  for (const std::string bucket : {"a/x/", "b/x/"}) {
    std::string last;
    store.scan(bucket, "", "", at, [&](std::string_view item, const JsonPtr& object) {
      RC_ASSERT(last < item);
      last = item;
      model[bucket + std::string(item)] = {std::stoll(std::string(string_at(*object, {"metadata", "resourceVersion"}))),
                                           static_cast<int>(int_at(*object, {"value"}))};
      return true;
    });
  }
  return model;
}

void apply(Model& model, const Change& change) {
  if (change.type == Change::Type::kDeleted) {
    RC_ASSERT(model.erase(change.key) == 1u);
    return;
  }
  RC_ASSERT((model.count(change.key) == 0) == (change.type == Change::Type::kCreated));
  model[change.key] = {change.revision, static_cast<int>(int_at(*change.object, {"value"}))};
}

RC_GTEST_PROP(ObjectStoreProperty, AgreesWithAMapNowAndInThePast, ()) {
  VirtualExecutor executor{Time{}};
  const std::size_t history = *rc::gen::inRange<std::size_t>(1, 20);
  ObjectStore store(executor, make_memory_log(executor), StoreOptions{history, 1000});
  RC_ASSERT(store.load().has_value());

  Model model;
  std::vector<Model> past{{}};  // by revision
  int value = 0;
  for (const Op& op : *rc::gen::container<std::vector<Op>>(any_op())) {
    const ObjectKey key = key_for(op);
    const auto present = model.find(key.full());
    const Revision at = present == model.end() ? 0 : present->second.revision;
    ++value;
    switch (op.kind) {
      case Op::kPut:
        RC_ASSERT(store.put(key, JsonObject{{"value", value}}, at).has_value());
        model[key.full()] = {store.revision(), value};
        past.push_back(model);
        break;
      case Op::kStalePut:
        RC_ASSERT(store.put(key, JsonObject{}, at + 1).error() == WriteError::kConflict);
        break;
      case Op::kRemove:
        if (at == 0) break;
        RC_ASSERT(store.remove(key, at).has_value());
        model.erase(key.full());
        past.push_back(model);
        break;
      case Op::kSettle:
        RC_ASSERT(executor.run_ready(1'000));
        break;
    }
    RC_ASSERT(store.revision() + 1 == static_cast<Revision>(past.size()));
    RC_ASSERT(read(store, store.revision()) == model);
    RC_ASSERT(store.count("a/x/") + store.count("b/x/") == model.size());
  }
  RC_ASSERT(executor.run_ready(10'000));
  RC_ASSERT(store.durable() == store.revision());
  RC_ASSERT(store.revision() - store.floor() <= static_cast<Revision>(history));

  for (Revision r = store.floor(); r <= store.revision(); ++r) {
    RC_ASSERT(read(store, r) == past[static_cast<std::size_t>(r)]);
    // A client that knew the state at r and applies all later changes has the current state.
    Model followed = past[static_cast<std::size_t>(r)];
    for (const std::string bucket : {"a/x/", "b/x/"}) {
      store.replay(bucket, r, [&](const Change& change) { apply(followed, change); });
    }
    RC_ASSERT(followed == model);
  }
}

}  // namespace
}  // namespace berth::apiserver::object_store_property_test
