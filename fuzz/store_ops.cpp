// Compares sequences of operations on the object store with a map; the bytes choose the operations.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "embedded/apiserver/storage/object_store.h"

namespace {

using namespace berth;
using namespace berth::apiserver;

// A log that holds its writes until the input decides that they are durable, and has trouble when it decides that.
class ScriptedLog final : public Log {
 public:
  using Trouble = std::function<void(const std::string&)>;
  ScriptedLog(std::vector<std::function<void(Result<void>)>>& held, Trouble& trouble)
      : held_(held), trouble_(trouble) {}
  void on_trouble(Trouble reported) override { trouble_ = std::move(reported); }
  void append(std::vector<Change>, std::function<void(Result<void>)> done) override {
    held_.push_back(std::move(done));
  }
  Result<Snapshot> load() override { return Snapshot{}; }

 private:
  std::vector<std::function<void(Result<void>)>>& held_;
  Trouble& trouble_;
};

void require(bool holds) {
  if (!holds) std::abort();
}

using Model = std::map<std::string, std::pair<Revision, std::int64_t>>;

Model read(const ObjectStore& store, Revision at) {
  Model model;
  store.scan("g/r/", "", "", at, [&](std::string_view item, const JsonPtr& object) {
    model[std::string(item)] = {std::stoll(std::string(string_at(*object, {"metadata", "resourceVersion"}))),
                                int_at(*object, {"value"})};
    return true;
  });
  return model;
}

void release(std::vector<std::function<void(Result<void>)>>& held) {
  if (held.empty()) return;
  auto done = std::move(held.front());
  held.erase(held.begin());
  done({});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  VirtualExecutor executor{Time{}};
  std::vector<std::function<void(Result<void>)>> held;
  ScriptedLog::Trouble trouble;
  ObjectStore store(executor, std::make_unique<ScriptedLog>(held, trouble), StoreOptions{1 + data[0] % 16u, 8});
  require(store.load().has_value());
  Model model;
  std::vector<Model> past{{}};
  for (std::size_t i = 1; i < size; ++i) {
    const std::string item = "n/" + std::string(1, static_cast<char>('a' + data[i] % 4));
    const auto present = model.find(item);
    const Revision at = present == model.end() ? 0 : present->second.first;
    const bool accepts = store.failure().empty() && !store.overloaded();
    switch (data[i] >> 2 & 7) {
      case 0:
      case 1:
      case 2:
        require(store.put({"g/r/", item}, JsonObject{{"value", static_cast<std::int64_t>(i)}}, at).has_value() ==
                accepts);
        if (!accepts) break;
        model[item] = {store.revision(), static_cast<std::int64_t>(i)};
        past.push_back(model);
        break;
      case 3:
        require(!store.put({"g/r/", item}, JsonObject{}, at + 1).has_value());
        break;
      case 4:
        if (at == 0) break;
        require(store.remove({"g/r/", item}, at).has_value() == accepts);
        if (!accepts) break;
        model.erase(item);
        past.push_back(model);
        break;
      case 5:
      case 6:
        release(held);
        break;
      case 7:
        // Nothing that was accepted is taken back.
        trouble((data[i] & 0x80) == 0 ? "" : "failed");
        break;
    }
    require(store.revision() + 1 == static_cast<Revision>(past.size()));
    require(store.durable() <= store.revision() && store.floor() <= store.durable());
    require(store.count("g/r/") == model.size());
    require(store.readable() == (store.failure().empty() ? store.revision() : store.durable()));
    for (Revision r = store.floor(); r <= store.revision(); ++r)
      require(read(store, r) == past[static_cast<std::size_t>(r)]);
  }
  return 0;
}
