// The connection to one worker cluster: its client, the caches of the copies and their jobs there, and whether it can
// be reached. Each cluster has a client of its own: one that is slow or gone delays no other.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "api/status.h"
#include "base/lifetime.h"
#include "controller/plan_runner.h"
#include "controller/shell.h"
#include "controller/work_queue.h"
#include "controller/worker_access.h"
#include "controller/worker_rights.h"
#include "controller/writes.h"
#include "kube/typed_informer.h"
#include "multikueue/copy.h"
#include "multikueue/remote_job.h"

namespace berth::controller {

// More than 40 methods: the connection, its caches and what is said about it change together.
class WorkerCluster {
 public:
  using CopyPtr = std::shared_ptr<const multikueue::SeenCopy>;
  using JobPtr = std::shared_ptr<const multikueue::SeenJob>;
  using SenderOf = std::function<multikueue::Sender()>;
  struct Handlers {
    std::function<void(const std::string& key)> changed;  // a copy or its job; "namespace/name" of the workload
    std::function<void()> reported;                       // connected(), says() or lost_since() changed
    std::function<void()> kind_known;                     // knows(), has(), takes() or lets_change() changed
    WorkQueue::Work work;                                 // what look_soon() asks for; called while connected() only
  };

  // Not connected, and says why: nobody told it where the cluster is. `shell` must outlive it.
  WorkerCluster(Shell& shell, std::string name, SenderOf sender, Handlers handlers);
  ~WorkerCluster();

  // Connects, unless it uses this kubeconfig already. `text`: the kubeconfig; it is kept in memory only.
  void use(const std::string& text);
  // Ends the connection, because nobody knows (any more) where the cluster is.
  void leave(Unusable why);

  // Sends nothing any more, and connects no more. The token is kept until all that was sent has its answer.
  void close(std::shared_ptr<void> token);

  const std::string& name() const { return name_; }
  // Jobs of this kind are watched from now on, in this connection and the next ones. `kind` must outlive this object.
  // The first kind is needed before use(): without it the cluster does not count as connected.
  void need(const multikueue::RemoteKind& kind);
  // Whether the cache shows all jobs of the kind, or the cluster said that it has none or shows none to the manager and
  // never showed any before. false while not connected, and since a list of the kind failed that had come before.
  bool knows(const multikueue::RemoteKind& kind) const;
  // Whether the cluster serves the kind and shows its jobs; meaningful when knows().
  bool has(const multikueue::RemoteKind& kind) const;
  // Whether the manager has all rights there that a new job of the kind needs, as far as is known.
  bool takes(const multikueue::RemoteKind& kind) const;
  // Whether the manager may patch jobs of the kind there, as far as is known.
  bool lets_change(const multikueue::RemoteKind& kind) const;
  // Since when knows() is false, or has() is. A new connection begins no new time, only a list that came does.
  Time unknown_since(const multikueue::RemoteKind& kind) const;

  // Whether the caches show all copies, and the cluster answered lately.
  bool connected() const { return connected_; }
  // Since when it is not connected; when it never was, since this object exists. A connection of less than 30 seconds
  // does not count.
  Time lost_since() const { return lost_since_; }
  // Whether it is connected, and the manager has all rights there that every new job needs.
  bool is_active() const { return connected_ && !missing_.needed; }
  // Reason and message of the condition Active; the status is is_active().
  const Unusable& says() const { return says_; }

  // Of the workload with this key; null and empty while the caches are not complete. Objects of another manager with
  // the same origin are left out.
  CopyPtr copy(const std::string& key) const;
  std::vector<JobPtr> jobs(const std::string& key) const;  // in order of their kinds and names
  std::set<std::string> keys() const;                      // of all workloads that have a copy or a job

  // Objects of others that stand where the copy or its job would be, as far as a creation found out. They are looked
  // for again after a minute.
  bool foreign_copy(const std::string& key) const;
  bool foreign_job(const std::string& key) const;
  void found_foreign(const std::string& key, bool job);

  // Calls Handlers::work for the key soon: once at a time, again after a failure. What has begun is forgotten when the
  // connection ends.
  void look_soon(const std::string& key);
  // Only inside of Handlers::work, and for what follows from it.
  Writes& writes() { return link_->writes; }
  PlanRunner& runner() { return link_->runner; }

 private:
  // What is kept of a kind from one connection to the next.
  struct Kind {
    const multikueue::RemoteKind* rules;
    bool was_there = false;               // a list came, and it was not uninstalled since
    std::optional<Time> unknown_since{};  // of the first failure since the last list that came
    std::string why{};                    // that failure, in the worker's words; "": the connection was lost
    MissingRights missing{};
  };
  // The jobs of one kind.
  struct Jobs {
    enum class State : std::uint8_t { kUnknown, kThere, kNotThere };
    Jobs(Kind& of, api::RestClient& client, Executor& executor, kube::InformerOptions options);
    Kind& kind;
    Time asked;
    State state = State::kUnknown;
    kube::TypedInformer<multikueue::SeenJob> cache;
  };
  struct JobRef {
    std::size_t kind = 0;  // its place in Link::jobs
    std::string key;
    auto operator<=>(const JobRef&) const = default;
  };
  // What one connection is made of. It is made anew when the cluster was away: a cluster that comes back may be one
  // that was restored from an older state.
  struct Link {
    Link(Shell& shell, std::unique_ptr<api::RestClient> made, const std::string& origin, WorkQueue::Work work);
    std::unique_ptr<api::RestClient> client;
    Writes writes;
    std::size_t objects = 0, bytes = 0;  // that the caches hold
    std::set<std::string> of_others;     // keys of copies of another manager with the same origin
    kube::TypedInformer<multikueue::SeenCopy> copies;
    std::vector<std::unique_ptr<Jobs>> jobs;          // in the order in which the kinds were needed
    std::map<std::string, std::set<JobRef>> jobs_of;  // by the key of the workload that they name
    WorkQueue queue;                                  // keys of workloads
    PlanRunner runner;
    Lifetime lifetime;
  };
  struct Foreign {
    std::string key;
    bool job = false;
    auto operator<=>(const Foreign&) const = default;
  };

  void connect();
  void ask_about_copies();
  void begin();
  void watch_jobs(Kind& kind);
  void ask_about(Jobs& jobs);
  void report_kinds();
  const Kind* find_kind(const multikueue::RemoteKind& kind) const;
  const Jobs* jobs_of_kind(const multikueue::RemoteKind& kind) const;
  void job_changed(std::size_t kind, const JobPtr& old, const JobPtr& now);
  void listed(const api::RestResponse& response);
  void listed_jobs(Jobs& jobs, const api::RestResponse& response);
  void jobs_came(Jobs& jobs);
  void jobs_failed(Jobs& jobs, const api::RestResponse& response);
  std::string about_kinds() const;
  void look_whether_complete();
  void ping();
  void pinged(const api::RestResponse& response);
  void failed(const api::RestResponse& response);
  void failed(std::string_view reason, std::string_view why);
  // Adds up what the caches hold, and ends the connection when it is too much.
  template <typename Ptr>
  void count(const Ptr& old, const Ptr& now);
  void copy_changed(const std::string& key, const CopyPtr& old, const CopyPtr& now);
  bool is_of_another(const CopyPtr& copy) const { return copy && sender_().is_other(copy->manager); }
  Unusable active() const;
  std::string missing_text() const;
  void at(Duration wait, void (WorkerCluster::*what)());
  void say(bool connected, Unusable what);

  Shell& shell_;
  // Somebody gives the account its rights and looks: the next attempt comes after so long at most.
  static constexpr Duration kAskForRightsAgain = std::chrono::seconds(30);
  static constexpr std::size_t kMostOfWorkersText = 1'024;  // bytes
  static constexpr std::string_view kConnectionFailed = "ClientConnectionFailed";
  const std::string name_, origin_;
  const SenderOf sender_;
  const Handlers handlers_;
  std::deque<Kind> needed_;  // in the order in which they were needed; a reference stays valid
  std::string text_;         // the kubeconfig in use; "": none
  kube::Access access_;
  std::unique_ptr<Link> link_;
  bool connected_ = false;
  Time lost_since_, connected_since_{};
  Unusable says_;
  MissingRights missing_;  // for copies and jobs of the first kind
  int attempts_ = 0;       // failed ones since a connection held
  TimerId timer_ = 0;
  bool closed_ = false;
  std::map<Foreign, Time> foreign_;  // until when they are believed to be there
  Lifetime lifetime_;
};

}  // namespace berth::controller
