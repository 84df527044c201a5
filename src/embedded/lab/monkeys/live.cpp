#include "embedded/lab/monkeys/live.h"

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/status.h"
#include "base/json.h"
#include "embedded/lab/monkeys/kinds.h"

namespace berth::lab {
namespace {

constexpr Duration kBetweenRounds = std::chrono::seconds(2);
constexpr int kMostRestoreRounds = 150;  // five minutes: controllers must remove their finalizers first
constexpr std::size_t kMostNamedWrong = 5;
constexpr std::size_t kLongestSentence = 1000;  // bytes

// Whether the document at `path` ("apis/kueue.x-k8s.io/v1beta2") may describe a kind that is played with
// ("workloads.kueue.x-k8s.io").
bool is_played(std::string_view path, const MonkeyOptions& options) {
  if (path == "api/v1") return true;
  return std::ranges::any_of(options.weights, [path](const auto& kind) {
    const auto dot = kind.first.find('.');
    return dot != std::string::npos && path.starts_with("apis/" + kind.first.substr(dot + 1) + "/");
  });
}

// "2 objects: Pod default/a is to go; ...", or "" of none.
std::string named(const std::vector<std::string>& wrong) {
  if (wrong.empty()) return "";
  std::string text = std::to_string(wrong.size()) + " objects:";
  for (std::size_t i = 0; i < std::min(wrong.size(), kMostNamedWrong); ++i)
    text += " " + wrong[i].substr(0, kLongestSentence) + ";";
  return text;
}

}  // namespace

struct LiveMonkeys::Impl : std::enable_shared_from_this<Impl> {
  Impl(kube::Client& c, Executor& e, LiveMonkeysOptions o, std::function<void(Result<void>)> d)
      : client(c), executor(e), options(std::move(o)), done(std::move(d)) {}

  void after(Duration wait, std::function<void()> task) {
    executor.after(wait, [weak = weak_from_this(), task = std::move(task)] {
      if (weak.lock()) task();
    });
  }

  void finish(Result<void> outcome) {
    if (auto reported = std::exchange(done, nullptr)) reported(std::move(outcome));
  }

  void get(const std::string& path, std::function<void(Json)> then) {
    client.get(path, [weak = weak_from_this(), path, then = std::move(then)](api::RestResponse response) {
      const auto self = weak.lock();
      if (!self) return;
      if (!response.ok()) return self->finish(fail("cannot read " + path + ": " + api::failure_text(response)));
      then(std::move(response.body));
    });
  }

  // --- The served kinds.

  void start() {
    get("/openapi/v3", [this](const Json& index) {
      for (const auto& member : object_at(index, {"paths"})) {
        if (is_played(member.key(), monkeys)) documents.emplace_back(string_at(member.value(), {"serverRelativeURL"}));
      }
      read_next();
    });
  }

  void read_next() {
    if (documents.empty()) return begin();
    get(documents.front(), [this](Json document) {
      kinds.read(std::move(document));
      documents.pop_front();
      read_next();
    });
  }

  // --- The play.

  void begin() {
    if (kinds.find("workloads.kueue.x-k8s.io") == nullptr)
      return finish(fail("the API server does not serve workloads.kueue.x-k8s.io: install Berth's definitions first"));
    monkeys.crds = options.seed % 5 == 0;
    monkeys.protected_namespaces = {options.controller_namespace};
    group = std::make_unique<MonkeyGroup>(client, executor, kinds, options.seed, monkeys);
    group->remember([weak = weak_from_this()](Result<void> known) {
      const auto self = weak.lock();
      if (!self) return;
      if (!known) return self->finish(std::move(known));
      self->playing = true;
      if (self->options.length) self->after(*self->options.length, [self = self.get()] { self->stop(); });
      self->action();
    });
  }

  void action() {
    if (!playing) return;
    group->step();
    after(options.between_actions, [this] { action(); });
  }

  // --- The end of the play.

  void stop() {
    if (std::exchange(stopped, true)) return;
    if (!playing) return finish({});
    playing = false;
    group->end();
    after(kBetweenRounds, [this] { put_right(); });
  }

  void put_right() {
    group->restore([weak = weak_from_this()](const std::vector<std::string>& wrong) {
      const auto self = weak.lock();
      if (!self) return;
      self->still_wrong = named(wrong);
      if (wrong.empty()) return self->finish({});
      if (++self->rounds < kMostRestoreRounds)
        return self->after(kBetweenRounds, [self = self.get()] { self->put_right(); });
      self->finish(fail("cannot restore " + self->still_wrong));
    });
  }

  kube::Client& client;
  Executor& executor;
  LiveMonkeysOptions options;
  std::function<void(Result<void>)> done;
  MonkeyOptions monkeys;
  MonkeyKinds kinds;
  std::deque<std::string> documents;  // not read yet
  std::unique_ptr<MonkeyGroup> group;
  bool playing = false, stopped = false;
  int rounds = 0;
  std::string still_wrong;
};

LiveMonkeys::LiveMonkeys(kube::Client& client, Executor& executor, LiveMonkeysOptions options,
                         std::function<void(Result<void>)> done)
    : impl_(std::make_shared<Impl>(client, executor, std::move(options), std::move(done))) {}
LiveMonkeys::~LiveMonkeys() = default;

void LiveMonkeys::start() { impl_->start(); }
void LiveMonkeys::stop() { impl_->stop(); }
std::string LiveMonkeys::still_wrong() const { return impl_->still_wrong; }
MonkeyLog LiveMonkeys::log() const { return impl_->group ? impl_->group->log() : MonkeyLog(); }

}  // namespace berth::lab
