// An explanation as JSON.
#include "engine/explanation.h"

#include <algorithm>

namespace berth::engine {
namespace {

Json strings(const std::vector<std::string>& list) {
  JsonArray out;
  for (const std::string& each : list) out.emplace_back(each);
  return out;
}

void put(JsonObject& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}
void put(JsonObject& object, std::string_view key, const std::vector<std::string>& list) {
  if (!list.empty()) object[key] = strings(list);
}
void put(JsonObject& object, std::string_view key, const std::optional<Time>& time) {
  if (time) object[key] = format_time(*time);
}
JsonObject encode(const Explanation::Ahead& ahead) {
  JsonObject out{{"workload", ahead.workload}, {"priority", ahead.priority}};
  put(out, "queuedAt", ahead.queued_at);
  return out;
}

JsonObject encode(const Explanation::Blocker& blocker) {
  JsonObject out{{"reason", blocker.reason}, {"text", blocker.text}};
  put(out, "remedy", blocker.remedy);
  put(out, "until", blocker.until);
  return out;
}

std::string amount_text(const std::string& resource, Amount amount) {
  return amount.is_unlimited() ? "unlimited" : format_amount(resource, amount);
}

JsonObject encode(const Explanation::Shortage& shortage) {
  JsonObject out{{"podSets", strings(shortage.pod_sets)}};
  put(out, "flavor", shortage.flavor);
  put(out, "resource", shortage.resource);
  put(out, "mismatch", shortage.mismatch);
  if (!shortage.mismatch.empty()) return out;
  out["wanted"] = amount_text(shortage.resource, shortage.wanted);
  if (shortage.flavor.empty()) return out;
  out["available"] = amount_text(shortage.resource, shortage.available);
  out["most"] = amount_text(shortage.resource, shortage.most);
  out["missing"] = amount_text(shortage.resource, shortage.missing);
  JsonArray holders;
  for (const auto& holder : shortage.holders) {
    JsonObject each{{"workload", holder.workload},
                    {"clusterQueue", holder.cluster_queue},
                    {"amount", amount_text(shortage.resource, holder.amount)},
                    {"priority", holder.priority}};
    put(each, "endsBy", holder.ends_by);
    holders.emplace_back(std::move(each));
  }
  if (!holders.empty()) out["holders"] = std::move(holders);
  if (shortage.more_holders > 0) out["moreHolders"] = shortage.more_holders;
  return out;
}

JsonObject encode(const Change& change) {
  JsonObject out{{"kind", to_string(change.kind)}, {"text", change.text}};
  put(out, "clusterQueue", change.cluster_queue);
  JsonArray quotas;
  for (const auto& step : change.quotas) {
    quotas.emplace_back(JsonObject{{"flavor", step.flavor},
                                   {"resource", step.resource},
                                   {"from", amount_text(step.resource, step.from)},
                                   {"to", amount_text(step.resource, step.to)}});
  }
  if (!quotas.empty()) out["quotas"] = std::move(quotas);
  put(out, "workload", change.workload);
  put(out, "node", change.node);
  put(out, "podSet", change.pod_set);
  if (change.kind == Change::Kind::kReducePods) out["pods"] = change.pods;
  put(out, "preempts", change.preempts);
  return out;
}

JsonObject encode(const Explanation::Assigned& assigned) {
  JsonObject flavors;
  for (const auto& [resource, flavor] : assigned.flavors) flavors[resource] = flavor;
  JsonObject out{{"podSet", assigned.pod_set}, {"count", assigned.count}, {"flavors", std::move(flavors)}};
  put(out, "topology", assigned.topology);
  JsonArray domains;
  for (const auto& [path, pods] : assigned.domains) domains.emplace_back(JsonObject{{"domain", path}, {"pods", pods}});
  if (!domains.empty()) out["domains"] = std::move(domains);
  if (assigned.more_domains > 0) out["moreDomains"] = assigned.more_domains;
  return out;
}

template <typename T>
void put_objects(JsonObject& object, std::string_view key, const std::vector<T>& list) {
  if (list.empty()) return;
  JsonArray out;
  for (const T& each : list) out.emplace_back(encode(each));
  object[key] = std::move(out);
}

}  // namespace

std::string_view to_string(Change::Kind kind) {
  switch (kind) {
    case Change::Kind::kRaiseNominalQuota:
      return "RaiseNominalQuota";
    case Change::Kind::kRaiseBorrowingLimit:
      return "RaiseBorrowingLimit";
    case Change::Kind::kEndWorkload:
      return "EndWorkload";
    case Change::Kind::kRestoreNode:
      return "RestoreNode";
    case Change::Kind::kReducePods:
      break;
  }
  return "ReducePods";
}

void hide_other_namespaces(Explanation& e) {
  static const std::string kHidden = "(another namespace)";
  const std::string own = e.ns + "/";
  const auto foreign = [&](const std::string& workload) { return !workload.empty() && !workload.starts_with(own); };
  const auto hide = [&](std::string& workload) {
    if (foreign(workload)) workload = kHidden;
  };
  for (auto& ahead : e.ahead) hide(ahead.workload);
  for (auto& shortage : e.shortages) {
    for (auto& holder : shortage.holders) hide(holder.workload);
  }
  for (auto* list : {&e.waits_for, &e.victims}) std::ranges::for_each(*list, hide);
  for (auto& change : e.changes) {
    if (foreign(change.workload)) change.text = "End or preempt a workload of another namespace.";
    hide(change.workload);
    if (!std::ranges::any_of(change.preempts, foreign)) continue;
    const std::size_t sentence = change.text.find(" The workload then preempts");
    if (sentence != std::string::npos) change.text.resize(sentence);
    change.text += " The workload then preempts " + std::to_string(change.preempts.size()) + " workload(s).";
    std::ranges::for_each(change.preempts, hide);
  }
}

Json to_json(const Explanation& e) {
  JsonObject out{{"namespace", e.ns}, {"name", e.name}, {"uid", e.uid}, {"state", e.state}, {"summary", e.summary}};
  put(out, "localQueue", e.local_queue);
  put(out, "clusterQueue", e.cluster_queue);
  out["priority"] = e.priority;
  put(out, "reason", e.reason);
  put(out, "message", e.message);
  if (e.position) out["position"] = *e.position;
  put_objects(out, "ahead", e.ahead);
  put_objects(out, "blockers", e.blockers);
  put_objects(out, "shortages", e.shortages);
  put(out, "places", e.places);
  if (!e.never.empty()) {
    JsonObject never{{"text", e.never}};
    put(never, "podSet", e.never_pod_set);
    if (e.never_at_most) never["atMost"] = *e.never_at_most;
    out["neverFits"] = std::move(never);
  }
  put(out, "waitsFor", e.waits_for);
  if (e.forecast)
    out["forecast"] = JsonObject{{"at", format_time(e.forecast->at)}, {"endedWorkloads", e.forecast->ended}};
  put_objects(out, "changes", e.changes);
  put_objects(out, "assigned", e.assigned);
  put(out, "considered", e.considered);
  put(out, "victims", e.victims);
  return out;
}

}  // namespace berth::engine
