#include "embedded/simulate/recorder.h"

#include <sstream>
#include <utility>

#include "journal/frames.h"
#include "journal/replay.h"

namespace berth::simulation {
namespace {

class MemorySink final : public journal::Sink {
 public:
  explicit MemorySink(std::shared_ptr<std::vector<std::string>> segments) : segments_(std::move(segments)) {}

  void begin(Time, std::string header) override {
    if (open_) close();
    segments_->push_back(journal::signature());
    open_ = true;
    append(std::move(header));
  }
  void append(std::string records) override {
    std::string& segment = segments_->back();
    auto chunk = chunks_.chunk(records, segment.size());
    if (!chunk) {
      error_ = chunk.error().message;
      return;
    }
    segment += *chunk;
    total_ += chunk->size();
  }
  void close() override {
    append("");
    open_ = false;
  }
  journal::SinkStatus status() const override { return {open_ ? segments_->back().size() : 0, total_, error_}; }

 private:
  std::shared_ptr<std::vector<std::string>> segments_;
  journal::ChunkWriter chunks_;
  bool open_ = false;
  std::uint64_t total_ = 0;
  std::string error_;
};

}  // namespace

std::unique_ptr<journal::Journal> Recorder::journal(Executor& executor) {
  journal::JournalLimits limits;
  limits.segment_size = segment_size_;
  return std::make_unique<journal::Journal>(executor, std::make_unique<MemorySink>(segments_), "simulation", limits);
}

Recorder::Replay Recorder::replay() const {
  Replay out;
  for (const std::string& bytes : *segments_) {
    std::istringstream in(bytes);
    const auto replayed = journal::replay_segment(in, "segment " + std::to_string(++out.segments), {});
    out.compared += replayed.segment.compared;
    const auto& segment = replayed.segment;
    if (!segment.damage.empty()) out.broken.push_back(segment.damage);
    if (!segment.closed && segment.damage.empty() && !segment.difference)
      out.broken.push_back(segment.name + " was not closed");
    if (!segment.difference) continue;
    std::string text = journal::describe(*segment.difference);
    for (const auto& effect : segment.difference->effects) text += "\n  " + effect;
    out.broken.push_back(std::move(text));
  }
  return out;
}

}  // namespace berth::simulation
