// What clients and the controllers of the server see while the log cannot write, and afterwards.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "embedded/apiserver/server/harness.h"

namespace berth::apiserver::storage_trouble_test {
namespace {

// Keeps the changes that it is given while it has trouble, and writes them afterwards.
class TroubledLog final : public Log {
 public:
  explicit TroubledLog(Executor& executor) : executor_(executor) {}
  void append(std::vector<Change>, std::function<void(Result<void>)> done) override {
    if (writes_until_trouble_-- > 0) return executor_.post([done = std::move(done)] { done({}); });
    held_.push_back(std::move(done));
    if (!std::exchange(has_trouble_, true)) executor_.post([this] { reported_("the disk is full"); });
  }
  void on_trouble(std::function<void(const std::string&)> reported) override { reported_ = std::move(reported); }
  Result<Snapshot> load() override { return Snapshot{}; }

  void fail_after(int writes) { writes_until_trouble_ = writes; }
  void recover() {
    writes_until_trouble_ = 1'000'000;
    has_trouble_ = false;
    for (auto& done : std::exchange(held_, {})) executor_.post([done = std::move(done)] { done({}); });
    executor_.post([this] { reported_(""); });
  }

 private:
  Executor& executor_;
  std::function<void(const std::string&)> reported_;
  std::vector<std::function<void(Result<void>)>> held_;
  int writes_until_trouble_ = 1'000'000;
  bool has_trouble_ = false;
};

class StorageTrouble : public ServerTest {
 protected:
  StorageTrouble() {
    auto owned = std::make_unique<TroubledLog>(executor);
    log = owned.get();
    restart(std::move(owned));
  }
  TroubledLog* log = nullptr;
};

std::string text_of(const api::RestResponse& response) {
  return std::to_string(response.code) + " " + std::string(api::status_reason(response)) + ": " +
         std::string(api::status_message(response));
}

TEST_F(StorageTrouble, AWriteThatIsUnderWayIsNotConfirmedAndMayStillCome) {
  const auto watched = watch(request(api::Verb::kWatch, kConfigMaps, "default"));
  log->fail_after(0);
  const auto answer = create(kConfigMaps, "default", config_map("a"));
  EXPECT_EQ(
      text_of(answer),
      "504 Timeout: the request is not confirmed, and may take effect now or later; read the object before you try "
      "again: the disk is full");
  EXPECT_EQ(find_path(answer.body, {"details", "retryAfterSeconds"}), nullptr) << "clients would write it twice";
  EXPECT_TRUE(watched->events.empty());
  log->recover();
  settle();
  EXPECT_EQ(watched->events.size(), 1u);
  EXPECT_TRUE(exists(kConfigMaps, "default", "a"));
}

TEST_F(StorageTrouble, FurtherWritesAreRefusedAndReadsShowWhatIsStored) {
  ASSERT_TRUE(create(kConfigMaps, "default", config_map("old")).ok());
  log->fail_after(0);
  EXPECT_EQ(patch(kConfigMaps, "default", "old", R"({"data":{"a":"1"}})").code, 504);
  EXPECT_EQ(server->storage_problem(), "the disk is full");
  const auto refused = create(kConfigMaps, "default", config_map("b"));
  EXPECT_EQ(text_of(refused), "503 ServiceUnavailable: nothing can be written at present: the disk is full");
  EXPECT_EQ(int_at(refused.body, {"details", "retryAfterSeconds"}), 1);
  const auto old = get(kConfigMaps, "default", "old");
  ASSERT_TRUE(old.ok()) << to_string(old.body);
  EXPECT_EQ(find_path(old.body, {"data"}), nullptr) << "it is not confirmed";
  const auto all = list(kConfigMaps, "default");
  ASSERT_TRUE(all.ok()) << to_string(all.body);
  EXPECT_EQ(string_at(all.body, {"metadata", "resourceVersion"}), string_at(old.body, {"metadata", "resourceVersion"}));
  EXPECT_FALSE(exists(kConfigMaps, "default", "b"));

  log->recover();
  settle();
  EXPECT_EQ(server->storage_problem(), "");
  EXPECT_EQ(server->storage_failures(), 1u);
  EXPECT_EQ(string_at(get(kConfigMaps, "default", "old").body, {"data", "a"}), "1");
  EXPECT_TRUE(create(kConfigMaps, "default", config_map("b")).ok());
}

// What the server itself had to write is written afterwards.
TEST_F(StorageTrouble, ANamespaceIsEmptiedAfterwards) {
  for (int until = 0; until < 8; ++until) {
    SCOPED_TRACE(until);
    const std::string name = "ns-" + std::to_string(until);
    ASSERT_TRUE(create(kNamespaces, "", R"({"metadata":{"name":")" + name + "\"}}").ok());
    for (const char* object : {"a", "b", "c"}) ASSERT_TRUE(create(kConfigMaps, name, config_map(object)).ok());
    log->fail_after(until);
    remove(kNamespaces, "", name);
    executor.run_until(executor.now() + std::chrono::seconds(5));
    log->recover();
    executor.run_until(executor.now() + std::chrono::seconds(10));
    settle();
    EXPECT_FALSE(exists(kNamespaces, "", name));
  }
}

TEST_F(StorageTrouble, DependentsAreCollectedAfterwards) {
  for (int until = 0; until < 5; ++until) {
    SCOPED_TRACE(until);
    const auto owner = create(kConfigMaps, "default", config_map("owner-" + std::to_string(until)));
    ASSERT_TRUE(owner.ok());
    for (const std::string object : {"a", "b", "c"}) {
      ASSERT_TRUE(
          create(kConfigMaps, "default",
                 config_map(object + std::to_string(until),
                            R"(,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":")" +
                                std::string(string_at(owner.body, {"metadata", "uid"})) + "\"}]"))
              .ok());
    }
    log->fail_after(until);
    remove(kConfigMaps, "default", "owner-" + std::to_string(until));
    executor.run_until(executor.now() + std::chrono::seconds(5));
    log->recover();
    executor.run_until(executor.now() + std::chrono::seconds(10));
    settle();
    for (const std::string object : {"a", "b", "c"})
      EXPECT_FALSE(exists(kConfigMaps, "default", object + std::to_string(until))) << object;
  }
}

}  // namespace
}  // namespace berth::apiserver::storage_trouble_test
