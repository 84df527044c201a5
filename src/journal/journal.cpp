#include "journal/journal.h"

#include <utility>

#include "base/log.h"
#include "journal/frames.h"

namespace berth::journal {
namespace {

constexpr std::size_t kChunk = 128u << 10;              // records are written when there are so many bytes of them,
constexpr Duration kLongest = std::chrono::seconds(1);  // or when they are so old
constexpr Duration kLongestWait = std::chrono::seconds(30);  // how long a checkpoint waits before it is urgent
// After an error, when writing is tried again; later when the error came soon after a checkpoint: a new engine is made
// for each one.
constexpr Duration kRetry = std::chrono::minutes(1);
constexpr Duration kRetryAfterCheckpoint = std::chrono::minutes(10);
constexpr Duration kProbe = std::chrono::seconds(5);  // how often a try is looked at

}  // namespace

Journal::Journal(Executor& executor, std::unique_ptr<Sink> sink, std::string version, JournalLimits limits)
    : executor_(executor), sink_(std::move(sink)), version_(std::move(version)), limits_(limits) {}

Journal::~Journal() {
  for (const TimerId timer : {flush_timer_, probe_timer_}) {
    if (timer != 0) executor_.cancel(timer);
  }
  if (!encoder_) return;
  if (!buffer_.empty()) sink_->append(std::move(buffer_));
  sink_->close();
}

void Journal::begin(const engine::Options& options) {
  if (encoder_ && !buffer_.empty()) sink_->append(std::exchange(buffer_, {}));
  options_ = options;
  began_ = executor_.now();
  sink_->begin(began_, encode_header({version_, began_, options}));
  encoder_ = std::make_unique<RecordEncoder>(began_);
  buffer_.clear();
  in_checkpoint_ = true;
  due_ = false;
  after_checkpoint_ = checkpoint_size_ = 0;
  ++segments_;
}

void Journal::checkpoint_done() {
  if (!encoder_) return;
  encoder_->checkpoint(buffer_, executor_.now());
  in_checkpoint_ = false;
  flush();
}

void Journal::handled(Time now, const engine::Event& event, const engine::Effects& effects) {
  if (!encoder_) return;
  encoder_->event(buffer_, now, event, effects);
  added(now);
}

void Journal::scheduled(Time now, const engine::Effects& effects) {
  if (!encoder_) return;
  encoder_->round(buffer_, now, effects);
  added(now);
}

void Journal::added(Time now) {
  if (buffer_.size() >= kChunk) return flush();
  if (flush_timer_ == 0) {
    flush_timer_ = executor_.at(now + kLongest, [this] {
      flush_timer_ = 0;
      flush();
    });
  }
}

void Journal::flush() {
  if (!encoder_) return;
  if (!buffer_.empty()) {
    if (!in_checkpoint_) after_checkpoint_ += buffer_.size();
    sink_->append(std::exchange(buffer_, {}));
  }
  check_sink();
}

void Journal::check_sink() {
  const SinkStatus status = sink_->status();
  if (!status.error.empty()) return fail_now(status.error);
  if (in_checkpoint_) return;
  if (std::exchange(complained_, false)) log::info("the journal goes on");
  if (checkpoint_size_ == 0) checkpoint_size_ = status.segment;
  const bool old = executor_.now() - began_ >= limits_.segment_age && after_checkpoint_ > 0;
  if (due_ || (!old && status.segment < limits_.segment_size + checkpoint_size_)) return;
  due_ = true;
  wished_since_ = executor_.now();
}

void Journal::fail_now(const std::string& why) {
  encoder_.reset();
  buffer_.clear();
  due_ = false;
  const bool soon = segments_ > 1 && executor_.now() - began_ < kRetryAfterCheckpoint;
  probe_timer_ = executor_.after(soon ? kRetryAfterCheckpoint : kRetry, [this] { probe(); });
  if (!std::exchange(complained_, true))
    log::error("the journal stops; the controller goes on, and recording is tried again later", {{"why", why}});
}

// Begins a segment that stays empty. Only when that is on the disk, a checkpoint is asked for.
void Journal::probe() {
  sink_->begin(executor_.now(), encode_header({version_, executor_.now(), options_}));
  look_at_probe();
}

void Journal::look_at_probe() {
  probe_timer_ = executor_.after(kProbe, [this] {
    probe_timer_ = 0;
    const SinkStatus status = sink_->status();
    if (!status.error.empty()) {
      probe_timer_ = executor_.after(kRetry, [this] { probe(); });
    } else if (status.segment == 0) {
      look_at_probe();
    } else {
      due_ = true;
      wished_since_ = executor_.now();
    }
  });
}

Journal::Wish Journal::wish() const {
  if (!due_) return Wish::kNone;
  return executor_.now() - wished_since_ < kLongestWait ? Wish::kSoon : Wish::kUrgent;
}

Journal::State Journal::state() const { return {encoder_ != nullptr, sink_->status().total, segments_}; }

}  // namespace berth::journal
