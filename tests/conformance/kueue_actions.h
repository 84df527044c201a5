// Does what a recording of Kueue says was done.
#pragma once

#include <optional>
#include <string>

#include "conformance/kueue_left_out.h"
#include "conformance/kueue_stage.h"

namespace berth::conformance {

class Actions {
 public:
  // `targets`: what actions that are told in words alone act upon (kueue_targets.yaml). With `webhooks` what they made of
  // an action is told; without, an action that is refused is an error.
  Actions(Stage& stage, const LeftOut& left_out, const Json& targets, bool webhooks)
      : stage_(stage), left_out_(left_out), targets_(targets), webhooks_(webhooks) {}

  // What the recording's `answers` would be for what happened: by object, {"Job/a": {"changed": ...}}. Nothing when all of the action
  // is left out. Throws std::runtime_error when it cannot be done.
  std::optional<Json> act(const Json& step);

 private:
  std::optional<Json> create(const Json& objects);
  std::optional<Json> in_words(const Json& step, const std::string& action);
  std::optional<Json> send(const Json& target, const Json& step);
  void tell(Json& answers, const std::string& on, api::RestRequest request);
  void become_ready(std::string_view node);
  std::string newest_request();
  void set_phases(int count, const std::string& name, const std::string& phase);
  void bind_pods(const std::string& name);
  void fail_pods_of(std::string_view node);
  void change_pod(const Json& pod, api::Verb verb, std::string_view subresource, Json body);

  Stage& stage_;
  const LeftOut& left_out_;
  const Json& targets_;
  const bool webhooks_;
  std::string last_node_;
};

}  // namespace berth::conformance
