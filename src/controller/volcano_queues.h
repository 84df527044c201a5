// Volcano's Queue objects: opens and closes them as Commands and parents require, writes their statuses, and creates
// the two queues that always exist. Nothing is written before start().
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/lifetime.h"
#include "controller/shell.h"
#include "controller/volcano_groups.h"
#include "controller/work_queue.h"
#include "kube/informer.h"
#include "volcano/queue_states.h"
#include "volcano/quota_tree.h"

namespace berth::controller {

class VolcanoQueues {
 public:
  struct Volcano {
    const kube::Informer& queues;
    const kube::Informer& commands;
    const volcano::QuotaTree& tree;
    const VolcanoGroups& groups;
  };
  // All must outlive it.
  VolcanoQueues(Shell& shell, Volcano volcano);

  void start();
  // The queue itself, its parent or the PodGroups in it changed.
  void changed(std::string_view queue);
  // The usage of the queue changed. Its ancestors count it, too.
  void usage_changed(std::string_view queue);
  // The status of the queue was written, by this process or by another client.
  void status_changed(std::string_view queue);
  void command_changed(const std::string& key);

 private:
  struct Order {
    volcano::QueueAction action = volcano::QueueAction::kSync;
    std::uint64_t serial = 0;
    bool by_command = false;  // false: by a parent
  };
  using Steps = std::shared_ptr<volcano::QueueSteps>;

  void look(const std::string& queue, WorkQueue::Finish finish);
  void perform(Steps steps, std::size_t next, WorkQueue::Finish finish);
  void write(const volcano::QueueChange& change, const std::function<void(bool ok)>& done);
  void create(const std::string& queue, WorkQueue::Finish finish);
  void write_status(const std::string& queue, WorkQueue::Finish finish);
  void obey(const std::string& key, WorkQueue::Finish finish);
  void order(const std::string& queue, volcano::QueueAction action, bool by_command);
  void refuse(const std::string& queue, const std::string& why);
  api::volcano::QueueStatus status_of(const std::string& queue);
  const api::ResourceList& used_in(std::string_view cluster_queue);

  Shell& shell_;
  const Volcano volcano_;
  bool started_ = false;
  std::map<std::string, Order, std::less<>> orders_;  // by queue, until they are carried out
  // By queue: the reason why its order must wait, as it was reported last.
  std::map<std::string, std::string, std::less<>> refused_;
  std::uint64_t orders_given_ = 0;
  // By cluster queue: its usage, until it changes.
  std::map<std::string, api::ResourceList, std::less<>> used_;
  WorkQueue states_, statuses_, commands_;
  Lifetime lifetime_;
};

}  // namespace berth::controller
