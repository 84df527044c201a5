// Limits of the server. The limits of requests in flight are those of kube-apiserver; the others keep one client from
// filling the memory or blocking other clients.
#pragma once

#include <chrono>
#include <cstddef>

namespace berth::http {

// Connections. At kMaxConnections, a new one takes the place of one without a request in work (QuietConnections). When
// none can make place, new ones wait in the listen backlog until one closes. Connections of one peer address above
// kMaxConnectionsPerPeer are accepted but not read, until another one of that peer closes.
inline constexpr std::size_t kMaxConnections = 1'000;
// Does not apply to loopback addresses: all local clients share them.
inline constexpr std::size_t kMaxConnectionsPerPeer = 200;
// When more than one in this many connections of a peer had no request yet, the oldest of these makes place; else one
// that is idle.
inline constexpr std::size_t kArrivalsShare = 4;
// Connections that are being closed to make place, at a time; they come on top of kMaxConnections.
inline constexpr std::size_t kMaxMakingPlace = 100;
// Accepted connections above their peer's limit, of all peers together; further ones are closed.
inline constexpr std::size_t kMaxParkedConnections = 1'000;

// Requests.
// Also of the chunk extensions and trailers of a body. Each field counts 32 bytes more.
inline constexpr std::size_t kMaxHeaderBytes = 16 * 1024;
// Of HTTP/2 frames that carry one header, as sent. Above it the connection ends.
inline constexpr std::size_t kMaxHeaderBlockBytes = 4 * kMaxHeaderBytes;
// Strangers are clients without valid credentials. What the server keeps for their requests (headers and bodies that
// have come, responses that wait to be sent, and kStrangerRequestBytes for the rest of each request) has a limit per
// peer address and one for all together. Above it their requests are refused. Others do not notice.
inline constexpr std::size_t kMaxStrangerBytesPerPeer = 16u << 20;
inline constexpr std::size_t kMaxStrangerBytes = 48u << 20;
inline constexpr std::size_t kStrangerRequestBytes = 8 * 1024;
inline constexpr std::size_t kMaxStrangerResponseBytes = 1u << 20;  // of a response, as counted
// A refused body up to this size is read and dropped, so that the client reads the response; for a larger one the
// connection or stream is closed.
inline constexpr std::size_t kMaxDrainBytes = 16u << 20;
inline constexpr int kMaxReadsInFlight = 400;
inline constexpr int kMaxWritesInFlight = 200;
// Limit per connection for reads and for writes, so that no connection takes all turns; one group commit of the log
// takes 64 writes.
inline constexpr int kMaxInFlightPerConnection = 100;

// Watches.
// Above this backlog a watch is ended: its client reads too slowly.
inline constexpr std::size_t kMaxWatchBacklogBytes = 4u << 20;
inline constexpr std::size_t kMaxWatchBacklogEvents = 1'000;
// Above these the handler of a watch is asked to pause.
inline constexpr std::size_t kPauseWatchBytes = 512u << 10;
inline constexpr std::size_t kPauseWatchEvents = 256;

// Times.
inline constexpr std::chrono::seconds kHandshakeTimeout{10};
inline constexpr std::chrono::seconds kIdleTimeout{90};  // between requests of a connection
// from the first byte of a request to the end of its header
inline constexpr std::chrono::seconds kHeaderTimeout{10};
inline constexpr std::chrono::seconds kBodyTimeout{60};
// how long a request waits while too many are in flight; then 429
inline constexpr std::chrono::seconds kTurnTimeout{10};
inline constexpr std::chrono::seconds kWriteTimeout{30};  // for one response, or one batch of events

// HTTP/2. A connection buffers at most kMaxStreams bodies of kStreamWindow bytes and kMaxLargeBodies bodies of the
// server's body limit (max_body_bytes).
inline constexpr std::size_t kMaxStreams = 250;  // concurrent streams of one connection; more wait at the client
// Streams of one connection that were refused for their header and are not closed yet, because the client does not read
// the refusals. Above it the connection ends.
inline constexpr std::size_t kMaxRefusedStreams = 50;
// Bytes of a body that a client may send before it gets more credit.
inline constexpr std::size_t kStreamWindow = 32 * 1024;
// flow-control window of all bodies of a connection together.
inline constexpr std::size_t kConnectionWindow = 1u << 20;
inline constexpr int kMaxLargeBodies = 4;  // bodies larger than kStreamWindow that are received at the same time
// Frames that wait to be sent; at this limit nothing is read from the client.
inline constexpr std::size_t kMaxQueuedFrames = 1'000;
// A response must send this many bytes per kWriteTimeout.
inline constexpr std::size_t kProgressBytes = 64 * 1024;
// Limits (burst, and per second) for streams that end before their response is complete, and for frames that make no
// progress (PING, SETTINGS, PRIORITY, WINDOW_UPDATE, empty DATA). A client may cancel all its streams twice. Above a
// limit it counts as an attack, and the connection ends with ENHANCE_YOUR_CALM.
inline constexpr int kResetBurst = 2 * static_cast<int>(kMaxStreams), kResetsPerSecond = 50;
inline constexpr int kIdleFrameBurst = 2'000, kIdleFramesPerSecond = 200;
// Idle frames earned back per request, and per DATA frame sent (for WINDOW_UPDATE frames).
inline constexpr int kFramesPerSent = 16;

}  // namespace berth::http
