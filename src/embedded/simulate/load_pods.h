// Submits the pods of a load. Berth evicts a pod by its deletion, so a deleted pod that has not succeeded is created
// again, as by the controller or the script that owns such pods.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "api/rest.h"
#include "base/executor.h"
#include "base/lifetime.h"
#include "embedded/simulate/load.h"
#include "kube/informer.h"

namespace berth::simulate {

class LoadPods {
 public:
  // `on_refusal` gets the name of a pod and the server's answer. All arguments must outlive this object.
  LoadPods(const Load& load, api::RestClient& client, Executor& executor,
           std::function<void(const std::string& pod, const api::RestResponse&)> on_refusal);

  void start();  // before the first submission
  void submit(const Submission& submission);

 private:
  struct Pod {
    const Submission* submission = nullptr;
    std::size_t index = 0;    // in the group
    std::size_t attempt = 0;  // number of pods before this one that were deleted
    bool over = false;        // succeeded, or another pod was created in its place
  };
  void create(Pod pod);
  void changed(const JsonPtr& old, const JsonPtr& now);
  void replace(Pod& pod);

  const Load& load_;
  api::RestClient& client_;
  std::function<void(const std::string&, const api::RestResponse&)> on_refusal_;
  kube::Informer informer_;
  std::map<std::string, Pod, std::less<>> pods_;  // by "namespace/name"
  Lifetime lifetime_;
};

}  // namespace berth::simulate
