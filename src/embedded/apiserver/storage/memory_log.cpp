#include <memory>
#include <utility>

#include "embedded/apiserver/storage/store.h"

namespace berth::apiserver {
namespace {

class MemoryLog final : public Log {
 public:
  explicit MemoryLog(Executor& executor) : executor_(executor) {}
  void append(std::vector<Change>, std::function<void(Result<void>)> done) override {
    executor_.post([done = std::move(done)] { done({}); });
  }
  Result<Snapshot> load() override { return Snapshot{}; }

 private:
  Executor& executor_;
};

}  // namespace

std::unique_ptr<Log> make_memory_log(Executor& executor) { return std::make_unique<MemoryLog>(executor); }

}  // namespace berth::apiserver
