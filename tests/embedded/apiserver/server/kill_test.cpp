// Every acknowledged or shown write survives kill -9 at any time, and revisions never decrease.
//
// A child process writes through an API server to a state file. Over a pipe it reports each response and each watch
// event. It is killed and the file is opened again, many times.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "embedded/apiserver/server/harness.h"
#include "embedded/apiserver/storage/loop_executor.h"
#include "support/scratch_dir.h"

namespace berth::apiserver::kill_test {
namespace {

constexpr int kRounds = 200;
constexpr int kStreams = 8;  // each has one write in flight

struct Report {
  enum Kind : std::int32_t { kAcknowledged, kShown } kind;
  std::int32_t stream;
  std::int64_t value;
  std::int64_t revision;
};

std::string name_of(int stream) { return "stream-" + std::to_string(stream); }

std::int64_t revision_in(const Json& object) {
  return std::stoll(std::string(string_at(object, {"metadata", "resourceVersion"})));
}
std::int64_t value_in(const Json& object) { return std::stoll(std::string(string_at(object, {"data", "value"}, "0"))); }

// The child process: writes until it is killed.
class Writer {
 public:
  Writer(const std::string& path, int pipe) : pipe_(pipe) {
    auto log = open_sqlite_log(path, executor_);
    if (!log) std::_Exit(2);
    auto server = ApiServer::open(executor_, std::move(*log));
    if (!server) std::_Exit(3);
    server_ = std::move(*server);
  }

  [[noreturn]] void run() {
    api::RestRequest all;
    all.verb = api::Verb::kWatch;
    all.resource = kConfigMaps;
    const auto watch = server_->watch(
        all, [this](const api::WatchEvent& event) { report({Report::kShown, 0, 0, revision_in(*event.object)}); },
        [] {});
    for (int stream = 0; stream < kStreams; ++stream) begin(stream);
    executor_.run_until([] { return false; });
    std::_Exit(4);
  }

 private:
  void begin(int stream) {
    api::RestRequest get;
    get.resource = kConfigMaps;
    get.ns = "default";
    get.name = name_of(stream);
    server_->call(get, [this, stream](const api::RestResponse& found) {
      write(stream, found.ok() ? value_in(found.body) + 1 : 1, found.ok());
    });
  }
  void write(int stream, std::int64_t value, bool exists) {
    api::RestRequest r;
    r.verb = exists ? api::Verb::kPatch : api::Verb::kCreate;
    r.resource = kConfigMaps;
    r.ns = "default";
    r.name = exists ? name_of(stream) : std::string();
    r.body = JsonObject{{"metadata", JsonObject{{"name", name_of(stream)}}},
                        {"data", JsonObject{{"value", std::to_string(value)}}}};
    server_->call(std::move(r), [this, stream, value](const api::RestResponse& answer) {
      if (!answer.ok()) std::_Exit(5);
      report({Report::kAcknowledged, stream, value, revision_in(answer.body)});
      write(stream, value + 1, true);
    });
  }
  void report(const Report& r) {
    if (::write(pipe_, &r, sizeof r) != sizeof r) std::_Exit(6);
  }

  int pipe_;
  LoopExecutor executor_;
  std::unique_ptr<ApiServer> server_;
};

struct Known {
  std::array<std::int64_t, kStreams> acknowledged{};
  std::int64_t newest = 0;  // newest revision that was acknowledged or shown
};

void note(Known& known, const Report& r) {
  known.newest = std::max(known.newest, r.revision);
  if (r.kind == Report::kAcknowledged) known.acknowledged[static_cast<std::size_t>(r.stream)] = r.value;
}

// Lets a child write until it has sent `reports` reports, kills it, and records all its reports.
void write_and_kill(const std::string& path, int reports, Known& known) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(ends[0]);
    Writer(path, ends[1]).run();
  }
  ::close(ends[1]);
  Report r{};
  for (int i = 0; i < reports && ::read(ends[0], &r, sizeof r) == sizeof r; ++i) note(known, r);
  ::kill(child, SIGKILL);
  while (::read(ends[0], &r, sizeof r) == sizeof r) note(known, r);
  ::close(ends[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself with code " << WEXITSTATUS(status);
}

void check(const std::string& path, Known& known) {
  LoopExecutor executor;
  auto log = open_sqlite_log(path, executor);
  ASSERT_TRUE(log) << log.error().message;
  const auto snapshot = (*log)->load();
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  ASSERT_GE(snapshot->revision, known.newest) << "a revision that was seen would be used again";
  std::array<std::int64_t, kStreams> stored{};
  for (const Stored& object : snapshot->objects) {
    for (int stream = 0; stream < kStreams; ++stream) {
      if (object.key == "/configmaps/default/" + name_of(stream)) {
        stored[static_cast<std::size_t>(stream)] = value_in(*object.object);
        ASSERT_EQ(object.revision, revision_in(*object.object));
      }
    }
  }
  for (std::size_t stream = 0; stream < kStreams; ++stream) {
    // The write after the last acknowledged one may already be on disk.
    ASSERT_GE(stored[stream], known.acknowledged[stream]) << "stream " << stream << " lost an acknowledged write";
    ASSERT_LE(stored[stream], known.acknowledged[stream] + 1) << "stream " << stream << " has a write nobody asked for";
  }
  known.acknowledged = stored;  // the next child continues from here
}

TEST(Kill, NothingAcknowledgedIsLost) {
  const std::filesystem::path directory = testing_support::make_scratch_dir("berth_kill");
  const std::string path = directory / "state.db";
  std::mt19937 random(20261121);
  Known known;
  for (int round = 0; round < kRounds; ++round) {
    write_and_kill(path, static_cast<int>(random() % 60), known);
    if (!testing::Test::HasFatalFailure()) check(path, known);
    if (testing::Test::HasFatalFailure()) {
      ADD_FAILURE() << "in round " << round;
      break;
    }
  }
  EXPECT_GT(known.newest, kRounds);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace berth::apiserver::kill_test
