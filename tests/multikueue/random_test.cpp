// A manager and one to three workers in one thread: workers and links do what they like, passes end after any step
// and see old states of the workers. Then all links heal, and what must hold at rest is checked.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "multikueue/dispatch.h"

namespace berth::multikueue {
namespace {

using api::kueue::CheckState;
using Kind = Step::Kind;

struct World {
  explicit World(std::uint64_t seed_of) : random(seed_of) {
    partitions = below(2) == 0;
    settings.dispatcher = below(2) == 0 ? Dispatcher::kAllAtOnce : Dispatcher::kIncremental;
    settings.step_size = 1;
    const std::size_t count = 1 + below(3);
    for (std::size_t i = 0; i < count; ++i) {
      clusters.push_back({.name = std::string(1, static_cast<char>('c' - i)), .connected = true});
    }
    seen = clusters;
    local.other_checks_ready = true;
  }

  std::uint64_t below(std::uint64_t n) { return next_random(random) % n; }
  Cluster& at(const std::string& name) { return *std::ranges::find(clusters, name, &Cluster::name); }
  // The worker's controller lets a job run only while its copy is admitted.
  static bool runs(const Cluster& c) { return c.job && c.job_active && c.copy == CopyState::kAdmitted; }
  std::int64_t running() const { return std::ranges::count_if(clusters, runs); }

  // Kueue or Berth on a worker.
  void worker_moves(Cluster& c, bool may_evict) {
    switch (c.copy) {
      case CopyState::kPending:
        c.copy = CopyState::kReserved;
        break;
      case CopyState::kReserved:
        c.copy = CopyState::kAdmitted;
        c.admitted_since = now + std::chrono::minutes(below(7));  // clocks apart
        break;
      case CopyState::kAdmitted:
        if (c.job && !c.job_active) {
          EXPECT_FALSE(ended) << "a job that ended starts again on " << c.name;
          c.job_active = true;
        } else if (c.job && below(4) == 0) {
          c.copy = CopyState::kFinished;
          c.job_active = false;
          ended = ended || healed || !partitions;  // else the link may be down, and the manager can not know
        } else if (may_evict && below(4) == 0) {
          c.copy = CopyState::kEvicted;
        }
        break;
      case CopyState::kEvicted:
        if (c.job_active)
          c.job_active = false;
        else
          c.copy = CopyState::kPending;
        break;
      case CopyState::kDeactivated:
        c.job_active = false;
        break;
      default:
        break;
    }
  }

  // The engine of the manager.
  void manager_moves() {
    if (local.finished) return;
    if (local.evicted && !local.job_active) {
      local.evicted = local.quota_reserved = false;
      local.cluster_name.clear();
      local.nominated.clear();
      local.check = CheckState::kPending;
    } else if (!local.evicted && local.check == CheckState::kRetry) {
      local.evicted = true;
    } else if (!local.quota_reserved) {
      local.quota_reserved = true;
      local.dispatch_since = now;
    }
  }

  void carry_out(const Step& step) {
    Cluster* c = step.cluster.empty() ? nullptr : &at(step.cluster);
    if (c && step.kind != Kind::kChoose && step.kind != Kind::kFinish && !c->connected) return;
    switch (step.kind) {
      case Kind::kNominate:
        local.nominated = step.names;
        break;
      case Kind::kChoose:
        EXPECT_TRUE(std::ranges::count(local.nominated, step.cluster));  // as the webhook demands
        EXPECT_EQ(local.cluster_name, "");
        local.cluster_name = step.cluster;
        local.nominated.clear();
        local.check = CheckState::kReady;
        break;
      case Kind::kSetCheck:
        local.check = step.check;
        break;
      case Kind::kCreateCopy:
        if (c->copy == CopyState::kNone) c->copy = CopyState::kPending;
        break;
      case Kind::kDeleteCopy:
        // A deletion demands the version that was seen.
        if (std::ranges::find(seen, c->name, &Cluster::name)->copy != c->copy) return;
        c->copy = CopyState::kNone;
        c->job = c->job_active = false;
        break;
      case Kind::kDeactivate:
        if (c->copy == CopyState::kAdmitted) c->copy = CopyState::kDeactivated;
        break;
      case Kind::kCreateJob:
        if (c->copy == CopyState::kAdmitted) {
          c->job = true;
          c->job_outdated = false;
        }
        break;
      case Kind::kUpdateJob:
        c->job_outdated = false;
        ++updates;
        break;
      case Kind::kSyncStatus:
        local.job_active = c->job_active;
        break;
      case Kind::kFinish:
        EXPECT_FALSE(local.finished);
        local.finished = true;
        local.quota_reserved = local.job_active = false;
        break;
      case Kind::kRelease:
        local.job_active = false;
        break;
      case Kind::kRequeue:
        EXPECT_GT(step.at, now);
        break;
    }
  }

  // True if something was done. Without faults the pass is whole and sees the present.
  bool pass(bool faults) {
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      if (!faults || !partitions || below(3) != 0) seen[i] = clusters[i];
      seen[i].connected = clusters[i].connected;
      seen[i].lost_since = clusters[i].lost_since;
    }
    const std::vector<Step> steps = next_steps(settings, local, seen, now);
    EXPECT_EQ(steps, next_steps(settings, local, seen, now));
    const std::size_t until = faults ? below(steps.size() + 1) : steps.size();
    bool did = false;
    for (std::size_t i = 0; i < until; ++i) {
      carry_out(steps[i]);
      did = did || (steps[i].kind != Kind::kRequeue && steps[i].kind != Kind::kSyncStatus);
    }
    return did;
  }

  void link_changes(Cluster& c) {
    c.connected = !c.connected;
    if (!c.connected) c.lost_since = now;
  }

  void trouble() {
    for (int i = 0; i < 300; ++i) {
      Cluster& c = clusters[below(clusters.size())];
      const std::uint64_t what = below(10);
      if (what < 4) worker_moves(c, true);
      if (what == 4 && partitions) link_changes(c);
      if (what == 5) manager_moves();
      if (what == 6) now += std::chrono::minutes(below(9));
      if (what == 7 && below(8) == 0 && local.quota_reserved) local.evicted = true;
      if (what == 8 && below(8) == 0 && !partitions && c.copy != CopyState::kFinished) {  // somebody deletes a copy
        c.copy = CopyState::kNone;
        c.job = c.job_active = false;
      }
      if (what == 9 && below(4) == 0) {  // somebody changes the job on the manager
        for (Cluster& one : clusters) one.job_outdated = one.job;
      }
      pass(true);
      if (running() > 1) two_ran = true;
    }
  }

  bool nothing_is_left() const {
    return std::ranges::all_of(clusters, [](const Cluster& c) { return c.copy == CopyState::kNone && !c.job; });
  }

  void heal() {
    healed = true;
    for (Cluster& c : clusters) {
      c.connected = true;
      ended = ended || c.copy == CopyState::kFinished || local.finished;
    }
    for (int i = 0; i < 40; ++i) {
      manager_moves();
      while (pass(false)) {
      }
      if (!local.quota_reserved) EXPECT_TRUE(nothing_is_left());
      EXPECT_LE(running(), 1);
      for (const Cluster& c : clusters) EXPECT_FALSE(runs(c) && c.name == local.cluster_name && c.job_outdated);
    }
  }

  std::uint64_t random;
  bool partitions = false, healed = false;
  bool two_ran = false;
  int updates = 0;     // of jobs on clusters
  bool ended = false;  // the job ended where the manager can see it
  Settings settings;
  Time now = Time{} + std::chrono::hours(1000);
  Local local;
  std::vector<Cluster> clusters, seen;
};

TEST(RandomDispatch, NoJobRunsTwiceAndNothingIsLeft) {
  std::map<std::string, int> reached;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    world.trouble();
    if (world.local.finished) ++reached["ended in trouble"];
    if (world.two_ran) {
      EXPECT_TRUE(world.partitions);  // only a link that is down hides a job from the manager
      ++reached["two ran while a link was down"];
    }
    if (world.updates > 0) ++reached["the job on a cluster was changed"];
    world.heal();
    // Whatever fits runs, and ends.
    for (int i = 0; i < 400 && !world.local.finished; ++i) {
      for (Cluster& c : world.clusters) world.worker_moves(c, false);
      world.heal();
    }
    world.heal();
    EXPECT_TRUE(world.local.finished);
    EXPECT_EQ(world.running(), 0);
    EXPECT_TRUE(world.nothing_is_left());
    if (testing::Test::HasFailure()) return;
  }
  // The seeds reach what they are for.
  EXPECT_GT(reached["ended in trouble"], 0);
  EXPECT_LT(reached["ended in trouble"], 2000);
  EXPECT_GT(reached["two ran while a link was down"], 0);
  EXPECT_GT(reached["the job on a cluster was changed"], 0);
}

}  // namespace
}  // namespace berth::multikueue
