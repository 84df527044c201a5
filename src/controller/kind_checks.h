// Asks the API server which described kinds it serves, and compares each description with the schema there: at the
// start, when asked to, and every few minutes. The documents are readable by everybody (system:discovery).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/lifetime.h"
#include "jobs/kinds/read/fit.h"

namespace berth::controller {

class KindChecks {
 public:
  using Fit = jobs::kinds::Fit;
  // `client` and `executor` must outlive it.
  KindChecks(api::RestClient& client, Executor& executor, std::vector<jobs::kinds::JobKindPtr> kinds);

  // Called for each kind when it is known for the first time, and when its fit has changed. Before start().
  void on_fit(std::function<void(const jobs::kinds::JobKindSpec&, const Fit&)> handler) { fit_ = std::move(handler); }
  // Called after each round, all kinds are known then. Before start().
  void on_round(std::function<void()> handler) { round_ = std::move(handler); }
  void start();
  // Soon, and again when it is asking already.
  void ask_again();

  // False until the server has answered about the kind, or has refused to.
  bool known(const jobs::kinds::JobKindSpec& kind) const { return known_.contains(kind.resource); }
  Fit of(const jobs::kinds::JobKindSpec& kind) const;

 private:
  struct Group {
    std::map<std::string, std::string> documents;              // address by version
    std::vector<std::string> seen_addresses;                   // those that the fits of the kinds are from
    std::map<std::string, std::vector<std::string>> versions;  // of this round: those that a kind was found in
    std::map<std::string, Fit> fits;                           // of this round, by kind
  };
  void ask();
  void take_index(const api::RestResponse& response);
  void read_next();
  void take_document(const std::string& group, const std::string& version, const api::RestResponse& response);
  void conclude(const std::string& name, Group& group);
  void settle(const jobs::kinds::JobKindSpec& kind, Fit fit);
  void end_round(bool complete);

  api::RestClient& client_;
  Executor& executor_;
  std::vector<jobs::kinds::JobKindPtr> kinds_;
  std::function<void(const jobs::kinds::JobKindSpec&, const Fit&)> fit_;
  std::function<void()> round_;
  std::map<api::GroupVersionResource, Fit> known_;
  std::map<std::string, Group> groups_;
  std::deque<std::pair<std::string, std::string>> to_read_;  // group and version
  bool asking_ = false, again_ = false, incomplete_ = false;
  TimerId timer_ = 0;
  Lifetime lifetime_;
};

}  // namespace berth::controller
