#include "cli/queues/explain_text.h"

#include <set>
#include <utility>

#include "cli/queues/expected_start.h"
#include "cli/queues/followed_pods.h"
#include "cli/queues/words.h"
#include "cli/table.h"

namespace berth::cli::queues {
namespace {

std::string joined(const JsonArray& list, std::string_view separator) {
  std::string out;
  for (const Json& each : list) {
    if (!each.is_string()) continue;
    out += (out.empty() ? "" : std::string(separator)) + printable(view(each.as_string()));
  }
  return out;
}

std::string indented(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    out += "  " + text.substr(begin, end == std::string::npos ? end : end - begin + 1);
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return out;
}

std::string section(std::string_view title, const std::string& body) {
  return body.empty() ? "" : "\n" + std::string(title) + "\n" + indented(body);
}

std::string head(const Json& e) {
  std::string out = at(e, "state") + " workload " + printable(string_at(e, {"metadata", "namespace"})) + "/" +
                    printable(string_at(e, {"metadata", "name"})) + ", priority " +
                    std::to_string(int_at(e, {"priority"})) + "\n";
  out += "LocalQueue " + at(e, "localQueue");
  if (!at(e, "clusterQueue").empty()) out += ", ClusterQueue " + at(e, "clusterQueue");
  if (find(e, "position") != nullptr) {
    const auto before = int_at(e, {"position"});
    out += before == 0 ? ", first in the queue" : ", " + std::to_string(before) + " before it in the queue";
  }
  out += "\n" + at(e, "summary") + "\n";
  if (!at(e, "reason").empty()) out += at(e, "reason") + ": " + at(e, "message") + "\n";
  return out;
}

std::string blockers(const Json& e) {
  std::string out;
  for (const Json& each : array_at(e, {"blockers"})) {
    out += at(each, "reason") + ": " + at(each, "text");
    if (!at(each, "until").empty()) out += " It ends at " + at(each, "until") + ".";
    if (!at(each, "remedy").empty()) out += " " + at(each, "remedy");
    out += "\n";
  }
  return out;
}

std::string ahead(const Json& e, bool colour) {
  Table table({"WORKLOAD", "PRIORITY", "CREATED"});
  for (const Json& each : array_at(e, {"ahead"}))
    table.add({{at(each, "workload")}, {std::to_string(int_at(each, {"priority"}))}, {at(each, "queuedAt")}});
  return table.empty() ? "" : table.text(colour);
}

std::string missing(const Json& e, bool colour) {
  Table table({"POD SETS", "FLAVOR", "RESOURCE", "ASKED", "FREE", "AT MOST", "MISSING"});
  std::string unusable;
  for (const Json& each : array_at(e, {"shortages"})) {
    const std::string pod_sets = joined(array_at(each, {"podSets"}), ",");
    if (!at(each, "mismatch").empty()) {
      unusable += "Flavor " + at(each, "flavor") + " cannot be used: " + at(each, "mismatch") + ".\n";
    } else if (at(each, "flavor").empty()) {
      unusable += "The ClusterQueue has no quota for " + at(each, "resource") + ".\n";
    } else {
      const bool lacks = at(each, "missing") != "0";
      table.add({{pod_sets},
                 {at(each, "flavor")},
                 {at(each, "resource")},
                 {at(each, "wanted")},
                 {at(each, "available")},
                 {at(each, "most")},
                 {lacks ? at(each, "missing") : "", lacks ? Tone::kBad : Tone::kPlain}});
    }
  }
  return (table.empty() ? "" : table.text(colour)) + unusable;
}

// Several pod sets may lack the same quota, which has the same holders.
std::string holders(const Json& e, bool colour) {
  Table table({"FLAVOR", "RESOURCE", "WORKLOAD", "CLUSTERQUEUE", "AMOUNT", "PRIORITY", "ENDS BY"});
  std::string more;
  std::set<std::pair<std::string, std::string>> shown;
  for (const Json& each : array_at(e, {"shortages"})) {
    if (array_at(each, {"holders"}).empty() || !shown.emplace(at(each, "flavor"), at(each, "resource")).second)
      continue;
    for (const Json& holder : array_at(each, {"holders"})) {
      table.add({{at(each, "flavor")},
                 {at(each, "resource")},
                 {at(holder, "workload")},
                 {at(holder, "clusterQueue")},
                 {at(holder, "amount")},
                 {std::to_string(int_at(holder, {"priority"}))},
                 {at(holder, "endsBy")}});
    }
    const auto others = int_at(each, {"moreHolders"});
    if (others > 0)
      more += "and " + std::to_string(others) + " more of " + at(each, "resource") + " in " + at(each, "flavor") + "\n";
  }
  return table.empty() ? "" : table.text(colour) + more;
}

std::string changes(const Json& e) {
  std::string out;
  for (const Json& each : array_at(e, {"changes"})) out += "- " + at(each, "text") + "\n";
  return out;
}

std::string assigned(const Json& e, bool colour) {
  Table table({"POD SET", "PODS", "FLAVORS", "PLACES"});
  for (const Json& each : array_at(e, {"assigned"})) {
    std::string flavors, places;
    for (const auto& [resource, flavor] : object_at(each, {"flavors"}))
      flavors += (flavors.empty() ? "" : ", ") + std::string(resource) + "=" + printable(view(flavor.as_string()));
    for (const Json& domain : array_at(each, {"domains"}))
      places += (places.empty() ? "" : ", ") + at(domain, "domain") + ":" + std::to_string(int_at(domain, {"pods"}));
    if (int_at(each, {"moreDomains"}) > 0) places += " and " + std::to_string(int_at(each, {"moreDomains"})) + " more";
    table.add({{at(each, "podSet")}, {std::to_string(int_at(each, {"count"}))}, {flavors}, {places}});
  }
  return table.empty() ? "" : table.text(colour);
}

}  // namespace

std::string explanation_text(const Json& e, bool colour) {
  std::string out = head(e);
  out += section("What keeps it from the queue:", blockers(e));
  out += section("Before it in the queue:", ahead(e, colour));
  out += section("What it asks of each flavor:", missing(e, colour));
  out += section("Who holds that quota:", holders(e, colour));
  if (!at(e, "places").empty()) out += section("Places on nodes:", at(e, "places") + "\n");
  const std::string evicted = joined(array_at(e, {"waitsFor"}), ", ");
  if (!evicted.empty()) out += section("These are being evicted in its queue:", evicted + "\n");
  out += section("When it is expected to start:", expected_start_text(e));
  if (const Json* forecast = find(e, "forecast")) {
    const auto ended = int_at(*forecast, {"endedWorkloads"});
    out += "\nEnough quota is free by " + at(*forecast, "at") + " at the latest, unless another workload goes first. " +
           std::to_string(ended) +
           (ended == 1 ? " running workload then reaches its" : " running workloads then reach their") +
           " maximum execution time.\n";
  }
  out += section("Each of these changes alone gives it quota now:", changes(e));
  out += section("What it got:", assigned(e, colour));
  if (!at(e, "considered").empty()) out += section("As of now:", at(e, "considered") + "\n");
  out += section("Its pods that do not run:", followed_pods_text(e));
  const std::string victims = joined(array_at(e, {"victims"}), ", ");
  if (!victims.empty())
    out += section(array_at(e, {"assigned"}).empty() ? "It would preempt:" : "Preempted for it:", victims + "\n");
  return out;
}

}  // namespace berth::cli::queues
