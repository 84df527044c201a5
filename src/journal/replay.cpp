#include "journal/replay.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>

#include "api/meta.h"
#include "base/json.h"
#include "base/overloaded.h"
#include "journal/reader.h"
#include "journal/segment_files.h"

namespace berth::journal {
namespace {

constexpr std::size_t kMostText = 4'000;  // bytes of an effect in words

constexpr std::array<std::string_view, kEventKinds> kEventNames{"ClusterQueueSeen",
                                                                "ClusterQueueGone",
                                                                "CohortSeen",
                                                                "CohortGone",
                                                                "LocalQueueSeen",
                                                                "LocalQueueGone",
                                                                "ResourceFlavorSeen",
                                                                "ResourceFlavorGone",
                                                                "AdmissionCheckSeen",
                                                                "AdmissionCheckGone",
                                                                "NamespaceSeen",
                                                                "NamespaceGone",
                                                                "LimitRangeSeen",
                                                                "LimitRangeGone",
                                                                "RuntimeClassSeen",
                                                                "RuntimeClassGone",
                                                                "TopologySeen",
                                                                "TopologyGone",
                                                                "NodeSeen",
                                                                "NodeGone",
                                                                "PodSeen",
                                                                "PodGone",
                                                                "WorkloadSeen",
                                                                "WorkloadGone",
                                                                "JobReported",
                                                                "CheckReported",
                                                                "WriteSettled",
                                                                "TimePassed",
                                                                "Synced",
                                                                "UsageRecalled",
                                                                "DevicesCounted",
                                                                "NodeDevicesSeen",
                                                                "DevicesTaken",
                                                                "DispatchReported"};

std::string in_words(const engine::Effect& effect) {
  std::string text = std::visit(
      Overloaded{
          [](const engine::WriteWorkloadStatus& e) {
            return "write " + std::to_string(e.write) + ": the status of workload " + api::object_key(e.base->meta) +
                   " becomes " + to_string(api::kueue::encode_workload_status(e.status));
          },
          [](const engine::DeactivateWorkload& e) {
            return "write " + std::to_string(e.write) + ": deactivate workload " + api::object_key(e.base->meta);
          },
          [](const engine::RecordEvent& e) {
            return "event " + e.reason + " about " + e.kind + " " + api::object_key(e.ns, e.name) + ": " + e.note;
          },
          [](const engine::ClusterQueueStatusChanged& e) { return "the status of ClusterQueue " + e.name; },
          [](const engine::LocalQueueStatusChanged& e) {
            return "the status of LocalQueue " + api::object_key(e.ns, e.name);
          },
          [](const engine::CohortStatusChanged& e) { return "the status of Cohort " + e.name; },
          [](const engine::SetFinalizer& e) {
            return (e.present ? "add the finalizer of " : "remove the finalizer of ") + e.kind + " " + e.name;
          },
          [](const engine::ExpireWorkload& e) { return "delete workload " + api::object_key(e.workload->meta); },
          [](const engine::WakeAt& e) { return "wake at " + format_micro_time(e.when); },
      },
      effect);
  if (text.size() > kMostText) text.resize(kMostText);
  return text;
}

std::string list(const std::vector<Decision>& decisions) {
  constexpr std::size_t kMost = 8;
  std::string out;
  for (const Decision& each : std::span(decisions).first(std::min(kMost, decisions.size()))) {
    out += (out.empty() ? "" : ", ") + std::string(name(each.action)) + " " + each.workload;
    if (each.write != 0) out += " (write " + std::to_string(each.write) + ")";
  }
  if (decisions.size() > kMost) out += " and " + std::to_string(decisions.size() - kMost) + " more";
  return out.empty() ? "no decision" : out;
}

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string side(const std::vector<Decision>& decisions, std::uint64_t checksum) {
  return checksum == 0 ? "nothing" : list(decisions) + ", checksum " + hexadecimal(checksum);
}

class SegmentPlayer {
 public:
  SegmentPlayer(std::istream& in, const std::string& segment, const ReplayOptions& options)
      : reader_(in, segment), options_(options) {
    out_.segment.name = segment;
  }

  Replayed play() {
    auto header = reader_.open();
    if (!header) {
      out_.segment.damage = header.error().message;
      return std::move(out_);
    }
    if (*header) {
      out_.segment.version = (*header)->version;
      out_.segment.from = out_.segment.to = out_.at = (*header)->began;
      out_.options = (*header)->options;
      out_.engine = std::make_unique<engine::Engine>(out_.options);
      while (step()) {
      }
    }
    out_.segment.closed = reader_.closed();
    out_.segment.cut_bytes = reader_.cut_bytes();
    return std::move(out_);
  }

 private:
  bool step() {
    const auto record = reader_.next();
    if (!record) {
      out_.segment.damage = record.error().message;
      return false;
    }
    out_.at_end = *record == nullptr;
    if (out_.at_end || (options_.until && (*record)->now > *options_.until)) return false;
    out_.segment.to = out_.at = (*record)->now;
    return replay(**record);
  }

  bool replay(const Record& record) {
    SegmentReplay& segment = out_.segment;
    if (record.kind == Record::Kind::kCheckpoint) {
      segment.checkpoint_events = std::exchange(segment.events, 0);
      return true;
    }
    const bool round = record.kind == Record::Kind::kRound;
    ++(round ? segment.rounds : segment.events);
    const auto effects = round ? out_.engine->schedule(record.now) : out_.engine->handle(record.now, record.event);
    const std::uint64_t came = effects.empty() ? 0 : checksum_of(effects, scratch_);
    segment.decisions += record.decisions.size();
    if (record.answered == !effects.empty() && came == record.checksum) {
      segment.compared += record.answered ? 1 : 0;
      return true;
    }
    Difference difference{segment.name,     reader_.number(),      reader_.position(), record.now, "round",
                          record.decisions, decisions_of(effects), record.checksum,    came,       {}};
    if (!round) difference.call = kEventNames[record.event.index()];
    for (const auto& effect : effects) difference.effects.push_back(in_words(effect));
    segment.difference = std::move(difference);
    return false;
  }

  SegmentReader reader_;
  const ReplayOptions& options_;
  Replayed out_;
  std::string scratch_;
};

Result<std::vector<SegmentFile>> segments_of(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return std::vector<SegmentFile>{{path, 0, {}, 0}};
  if (!std::filesystem::exists(path, error)) return fail(path + " does not exist");
  auto segments = list_segments(path);
  if (segments && segments->empty()) return fail(path + " has no segment of a journal (*.journal)");
  return segments;
}

Replayed replay_file(const std::string& path, const ReplayOptions& options) {
  std::ifstream in(path, std::ios::binary);
  if (in) return replay_segment(in, path, options);
  Replayed out;
  out.segment.name = path;
  out.segment.damage = path + " cannot be read";
  return out;
}

}  // namespace

std::string describe(const Difference& d) {
  return d.segment + ": record " + std::to_string(d.record) + " (chunk at byte " + std::to_string(d.position) +
         ", at " + format_micro_time(d.at) + ", " + d.call + ") is not reproduced: expected " +
         side(d.expected, d.expected_checksum) + "; came " + side(d.came, d.came_checksum);
}

Replayed replay_segment(std::istream& in, const std::string& name, const ReplayOptions& options) {
  return SegmentPlayer(in, name, options).play();
}

Result<std::vector<SegmentReplay>> replay_all(const std::string& path, const ReplayOptions& options) {
  const auto segments = segments_of(path);
  if (!segments) return tl::unexpected(segments.error());
  std::vector<SegmentReplay> out;
  for (const auto& segment : *segments) {
    if (options.until && segment.began > *options.until) break;
    out.push_back(replay_file(segment.path, options).segment);
  }
  return out;
}

Result<Replayed> replay_until(const std::string& path, Time time) {
  const auto segments = segments_of(path);
  if (!segments) return tl::unexpected(segments.error());
  const SegmentFile* found = nullptr;
  for (const auto& segment : *segments) {
    if (segment.began <= time) found = &segment;
  }
  const auto too_early = [&](Time began) {
    return fail("the journal " + path + " begins at " + format_time(began) + ", after " + format_time(time));
  };
  if (found == nullptr) return too_early(segments->front().began);
  auto replayed = replay_file(found->path, {time});
  const auto& segment = replayed.segment;
  if (segment.difference) return fail(describe(*segment.difference));
  if (!segment.damage.empty()) return fail(segment.damage);
  if (!replayed.engine) return fail(found->path + " has no record");
  if (time < segment.from) return too_early(segment.from);  // of a single file, the name is not read
  replayed.at_end = replayed.at_end && found == &segments->back();
  return replayed;
}

}  // namespace berth::journal
