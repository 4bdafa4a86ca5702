#pragma once

namespace mongo {

/// Turns SIGINT, SIGTERM, SIGHUP and other signals that would end the process into something to look at between steps,
/// and ignores SIGPIPE and SIGXFSZ, so that every way out goes through the clean-up. One per process; later signals
/// change nothing, so that a second one cannot skip an undo.
class InterruptWatch {
 public:
  /// Installs the handlers. Throws std::runtime_error when the kernel refuses.
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  /// The first signal that came, or 0.
  int signal_number() const;
  /// Readable once a signal has come; for poll(2).
  int descriptor() const { return descriptor_; }
  /// Throws Interrupted once a signal has come.
  void check() const;
  /// As if the signal had come: for a closed stdout (SIGPIPE).
  void raise(int signal_number);
  /// For a child after fork: back to the default actions.
  static void restore_defaults();

 private:
  int descriptor_ = -1;
};

}  // namespace mongo
