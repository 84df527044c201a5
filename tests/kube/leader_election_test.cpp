#include "kube/leader_election.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "embedded/apiserver/server/api_server.h"

namespace berth::kube::leader_election_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Time kStart = parse_time("2026-01-01T00:00:00Z").value();

// A connection that the test can cut: then requests get no answer and new watches get no events.
class Cable final : public api::RestClient {
 public:
  Cable(api::RestClient& server, Executor& executor) : server_(server), executor_(executor) {}
  bool cut = false;

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    if (cut) return executor_.post([done] { done({0, nullptr, {}}); });
    if (slow) {
      done = [this, done = std::move(done)](const api::RestResponse& response) {
        executor_.after(milliseconds(500), [done, response] { done(response); });
      };
    }
    server_.call(std::move(request), std::move(done));
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    if (cut || deaf) return nullptr;
    return server_.watch(std::move(request), std::move(on_event), std::move(on_end));
  }
  bool deaf = false;  // watches get no events
  bool slow = false;  // an answer takes half a second

 private:
  api::RestClient& server_;
  Executor& executor_;
};

class LeaderElectionTest : public testing::Test {
 protected:
  struct Candidate {
    std::unique_ptr<Cable> cable;
    std::unique_ptr<LeaderElector> elector;
    int started = 0, stopped = 0;
  };
  LeaderElectionTest() {
    server_ = apiserver::ApiServer::open(executor_, apiserver::make_memory_log(executor_), {.seed = 1}).value();
    api::RestRequest r;
    r.verb = api::Verb::kCreate;
    r.resource = {"", "v1", "namespaces"};
    r.body =
        JsonObject{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", JsonObject{{"name", "kueue-system"}}}};
    server_->call(std::move(r), [](const api::RestResponse& response) { ASSERT_EQ(response.code, 201); });
    run(milliseconds(1));
  }
  void run(Duration d) { executor_.run_until(executor_.now() + d); }

  Candidate& add(const std::string& identity, bool deaf = false) {
    candidates_.push_back(std::make_unique<Candidate>());
    Candidate& c = *candidates_.back();
    c.cable = std::make_unique<Cable>(*server_, executor_);
    c.cable->deaf = deaf;
    LeaderElectionOptions options;
    options.identity = identity;
    options.seed = candidates_.size();
    c.elector = std::make_unique<LeaderElector>(
        *c.cable, executor_, options,
        LeaderElector::Handler{[&c] { ++c.started; }, [&c](const std::string&) { ++c.stopped; }});
    c.elector->start();
    return c;
  }
  int leaders() const {
    int n = 0;
    for (const auto& c : candidates_) n += c->elector && c->elector->leading();
    return n;
  }

  VirtualExecutor executor_{kStart};
  std::unique_ptr<apiserver::ApiServer> server_;
  std::vector<std::unique_ptr<Candidate>> candidates_;
};

TEST_F(LeaderElectionTest, OneOfManyLeadsAndStays) {
  for (const char* name : {"a", "b", "c"}) add(name);
  run(seconds(1));
  EXPECT_EQ(leaders(), 1);
  for (int i = 0; i < 600; ++i) {
    run(seconds(1));
    ASSERT_EQ(leaders(), 1);
  }
  int started = 0;
  for (const auto& c : candidates_) started += c->started;
  EXPECT_EQ(started, 1) << "nobody took over from a healthy leader";
}

TEST_F(LeaderElectionTest, ADeadLeaderIsFollowedWithinTheLease) {
  Candidate& first = add("first");
  run(seconds(1));
  Candidate& second = add("second");
  run(seconds(30));
  ASSERT_TRUE(first.elector->leading());
  const Time until = first.elector->leads_until();
  EXPECT_GT(until, executor_.now() + seconds(7)) << "renewed every two seconds, for ten";
  EXPECT_EQ(second.elector->leads_until(), Time::min());
  first.elector.reset();  // killed: nothing is given back
  run(seconds(12));
  EXPECT_FALSE(second.elector->leading()) << "the lease of the dead is still good";
  EXPECT_GT(executor_.now(), until);
  run(seconds(3));
  EXPECT_TRUE(second.elector->leading());
}

// A node's clock that the test can set.
class Clock final : public Executor {
 public:
  explicit Clock(Executor& inner) : inner_(inner) {}
  Time now() const override { return inner_.now() + shift; }
  void post(Task task) override { inner_.post(std::move(task)); }
  TimerId at(Time when, Task task) override { return inner_.at(when - shift, std::move(task)); }
  void cancel(TimerId timer) override { inner_.cancel(timer); }
  Duration shift{};

 private:
  Executor& inner_;
};

TEST_F(LeaderElectionTest, AClockThatIsSetBackProvesNothing) {
  Clock clock(executor_);
  LeaderElectionOptions options;
  options.identity = "me";
  LeaderElector elector(*server_, clock, options, {[] {}, [](const std::string&) {}});
  elector.start();
  run(seconds(1));
  ASSERT_GT(elector.leads_until(), clock.now());
  clock.shift = -seconds(30);
  EXPECT_EQ(elector.leads_until(), Time::min());
}

TEST_F(LeaderElectionTest, WhoMayNotWatchFollowsWithinTheLeaseAndARetry) {
  Candidate& first = add("first");
  run(seconds(1));
  Candidate& second = add("second", true);
  run(seconds(30));
  ASSERT_TRUE(first.elector->leading());
  first.elector.reset();  // killed: nothing is given back
  run(seconds(12));
  EXPECT_FALSE(second.elector->leading()) << "the lease of the dead is still good";
  run(seconds(6));
  EXPECT_TRUE(second.elector->leading());
  EXPECT_EQ(second.elector->holder(), "second");
}

TEST_F(LeaderElectionTest, AReleasedLeaseIsTakenAtOnce) {
  Candidate& first = add("first");
  run(seconds(1));
  Candidate& second = add("second");
  run(seconds(5));
  bool done = false;
  first.elector->release([&] { done = true; });
  run(milliseconds(100));
  EXPECT_TRUE(done);
  EXPECT_FALSE(first.elector->leading());
  EXPECT_TRUE(second.elector->leading());
  EXPECT_EQ(first.stopped, 0) << "who gave up by itself is not told";
}

// Renewals are some seconds apart: one of these moments lies between a renewal and its answer.
class Moments : public LeaderElectionTest, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(OfThreeSeconds, Moments, testing::Range(0, 15));

TEST_P(Moments, ALeaseIsReleasedWhileARenewalIsUnderWay) {
  Candidate& first = add("first");
  run(seconds(1));
  Candidate& second = add("second");
  run(seconds(1));
  first.cable->slow = true;
  run(milliseconds(200) * GetParam());
  bool done = false;
  first.elector->release([&] { done = true; });
  run(seconds(3));
  EXPECT_TRUE(done);
  EXPECT_TRUE(second.elector->leading()) << "the lease of 15 seconds was given back";
}

TEST_F(LeaderElectionTest, ALeaderThatIsCutOffStopsBeforeAnotherStarts) {
  Candidate& first = add("first");
  run(seconds(1));
  Candidate& second = add("second");
  run(seconds(20));
  first.cable->cut = true;
  for (int i = 0; i < 300; ++i) {
    run(milliseconds(100));
    ASSERT_LE(leaders(), 1);
  }
  EXPECT_EQ(first.stopped, 1);
  EXPECT_TRUE(second.elector->leading());
}

TEST_F(LeaderElectionTest, ShortInterruptionsDoNotCostTheLease) {
  Candidate& first = add("first");
  run(seconds(1));
  add("second");
  for (int i = 0; i < 20; ++i) {
    first.cable->cut = true;
    run(seconds(5));
    first.cable->cut = false;
    run(seconds(5));
  }
  EXPECT_TRUE(first.elector->leading());
  EXPECT_EQ(first.stopped, 0);
}

TEST(LeaderElectionOptions, Validation) {
  const auto error = [](auto change) {
    LeaderElectionOptions o;
    o.identity = "me";
    change(o);
    const auto result = validate(o);
    return result ? std::string() : result.error().message;
  };
  EXPECT_EQ(error([](auto&) {}), "");
  EXPECT_EQ(error([](auto& o) { o.identity.clear(); }), "leaderElection: the identity must not be empty");
  EXPECT_EQ(error([](auto& o) { o.lease_duration = seconds(10); }),
            "leaderElection.leaseDuration: must be greater than renewDeadline");
  EXPECT_EQ(error([](auto& o) { o.retry_period = seconds(9); }),
            "leaderElection.renewDeadline: must be greater than 1.2 times retryPeriod");
  EXPECT_EQ(error([](auto& o) { o.retry_period = seconds(0); }), "leaderElection.retryPeriod: must be greater than 0");
}

}  // namespace
}  // namespace berth::kube::leader_election_test
