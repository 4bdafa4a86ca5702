#include "harness/report/people_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include "harness/core/trim.h"
#include "harness/report/conditions.h"
#include "harness/report/footnotes.h"
#include "harness/report/percentile.h"
#include "harness/report/phase_view.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

constexpr std::size_t longest_label = 12;
constexpr std::size_t narrowest_flags = 16;
constexpr double mebibyte = 1024 * 1024;

constexpr std::array<const char*, 7> figure_headings = {"seconds", "files/s", "MiB/s", "CPU", "p99", "read", "written"};
constexpr std::array<const char*, figure_headings.size()> figure_units = {"", "", "", "%", "", "MiB", "MiB"};

struct Row {
  std::string label;
  std::array<std::string, figure_headings.size()> figures;
  std::vector<std::string> flags;
};

/// What the legend has to explain beyond the units.
struct Legend {
  std::set<std::string> phase_flags;
  bool worker_cpu = false;
};

/// A figure that is never printed as 0 when it is none, nor as a number too long for its column.
std::string rounded(double value) {
  if (!std::isfinite(value) || value < 0) return no_value;
  if (value > 0 && value < 0.05) return "<0.1";
  if (value >= 1e9) return fmt::format("{:.2e}", value);
  return fmt::format("{:.1f}", value);
}

/// Per second of the phase; a time of 0 gives no rate.
std::string rate(const PhaseRecord& phase, double amount) {
  if (!phase.seconds || !(*phase.seconds > 0)) return no_value;
  const double value = amount / *phase.seconds;
  return value >= 100 && value < 1e9 ? fmt::format("{:.0f}", value) : rounded(value);
}

std::string cpu(const PhaseRecord& phase, Legend& legend) {
  if (phase.machine_cpu_percent) return rounded(*phase.machine_cpu_percent);
  if (!phase.cpu_percent) return no_value;
  std::string text = rounded(*phase.cpu_percent);
  if (text == no_value) return text;
  legend.worker_cpu = true;
  return text + "w";
}

std::string length_of_time(std::optional<double> ns) {
  if (!ns) return no_value;
  const auto with = [](double value, const char* unit) {
    return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
  };
  if (*ns < 1e6) return with(*ns / 1e3, "us");
  return *ns < 1e9 ? with(*ns / 1e6, "ms") : with(*ns / 1e9, "s");
}

/// During the phase and in the sync after it.
std::string device_mib(const PhaseRecord& phase, std::uint64_t DeviceActivity::*bytes) {
  if (!phase.device) return no_value;
  double sum = static_cast<double>((*phase.device).*bytes);
  if (phase.device_sync) sum += static_cast<double>((*phase.device_sync).*bytes);
  return rounded(sum / mebibyte);
}

std::vector<std::string> flags(const PhaseRecord& phase, Footnotes& notes, Legend& legend) {
  std::vector<std::string> all;
  for (const std::string& flag : phase.flags) {
    if (flag == "cache-fallback") continue;  // the state and its reason say it below
    all.push_back(ascii_line(flag));
    legend.phase_flags.insert(flag);
  }
  if (phase.status == Status::skipped) return all;
  const CacheRecord& cache = phase.cache;
  if (cache.state == "warm" && cache.requested == "warm") return all;
  all.push_back(ascii_line(cache.state));
  if (cache.state != cache.requested || !cache.reason.empty()) {
    all.back() += " " + notes.mark("caches: " + cache_text(cache));
  }
  return all;
}

Row row_of(const PhaseRecord& phase, Footnotes& notes, Legend& legend) {
  Row row;
  row.label = ascii_line(phase.label.empty() ? phase.name : phase.label).substr(0, longest_label);
  row.figures.fill(no_value);
  if (phase.status != Status::ok) {
    const std::string reason = phase.reason.empty() ? "no reason was recorded" : phase.reason;
    row.figures[0] = std::string(status_name(phase.status)) + " " + notes.mark(reason);
    row.flags = flags(phase, notes, legend);
    return row;
  }
  const std::string seconds = format_seconds(phase.seconds);
  const std::string why = phase_note(phase);
  row.figures = {seconds == no_value ? seconds + " " + notes.mark(why) : seconds,
                 rate(phase, static_cast<double>(phase.operations)),
                 phase.bytes == 0 ? no_value : rate(phase, static_cast<double>(phase.bytes) / mebibyte),
                 cpu(phase, legend),
                 length_of_time(merged_percentile_ns(phase.latencies, 99)),
                 device_mib(phase, &DeviceActivity::read_bytes),
                 device_mib(phase, &DeviceActivity::written_bytes)};
  row.flags = flags(phase, notes, legend);
  return row;
}

/// In lines of that width, a mark on the line of its flag.
std::vector<std::string> folded(const std::vector<std::string>& flags, std::size_t width) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string flag = flags[i] + (i + 1 < flags.size() ? "," : "");
    if (!lines.empty() && lines.back().size() + 1 + flag.size() <= width) {
      lines.back() += " " + flag;
    } else {
      for (std::string& part : wrap_words(flag, width)) lines.push_back(std::move(part));
    }
  }
  return lines;
}

/// Figures end at the same place, marks hang out to the right of them; the flags take what is left of the line.
class Grid {
 public:
  explicit Grid(const std::vector<Row>& rows) : rows_(rows) {
    for (std::size_t c = 0; c < figure_headings.size(); ++c) {
      figure_width_[c] = std::max(std::string(figure_headings[c]).size(), std::string(figure_units[c]).size());
    }
    for (const Row& row : rows) {
      label_width_ = std::max(label_width_, row.label.size());
      any_flags_ |= !row.flags.empty();
      for (std::size_t c = 0; c < row.figures.size(); ++c) {
        const std::size_t mark = mark_at(row.figures[c]);
        figure_width_[c] = std::max(figure_width_[c], mark);
        mark_width_[c] = std::max(mark_width_[c], row.figures[c].size() - mark);
      }
    }
  }

  std::string text() const {
    const std::string head = line("phase", figure_headings);
    const std::string units = line("", figure_units);
    const std::size_t flags_width =
        std::max(narrowest_flags, people_table_width - std::min(people_table_width, head.size() + 2));
    std::size_t width = head.size() + (any_flags_ ? std::string("  flags").size() : 0);
    std::string body;
    for (const Row& row : rows_) {
      std::string text = line(row.label, row.figures);
      for (const std::string& part : folded(row.flags, flags_width)) {
        text += "  " + part;
        width = std::max(width, text.size());
        body += right_trimmed(text) + "\n";
        text.assign(head.size(), ' ');
      }
      if (row.flags.empty()) body += right_trimmed(text) + "\n";
    }
    return right_trimmed(head + (any_flags_ ? "  flags" : "")) + "\n" + right_trimmed(units) + "\n" +
           std::string(width, '-') + "\n" + body;
  }

 private:
  static std::size_t mark_at(std::string_view cell) { return std::min(cell.find(" ["), cell.size()); }

  template <typename Cells>
  std::string line(const std::string& label, const Cells& cells) const {
    std::string text = fmt::format("{:<{}}", label, label_width_);
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string_view cell = cells[c];
      const std::size_t mark = mark_at(cell);
      text += fmt::format("  {:>{}}{:<{}}", cell.substr(0, mark), figure_width_[c], cell.substr(mark), mark_width_[c]);
    }
    return text;
  }

  const std::vector<Row>& rows_;
  std::size_t label_width_ = 6;
  std::array<std::size_t, figure_headings.size()> figure_width_{};
  std::array<std::size_t, figure_headings.size()> mark_width_{};
  bool any_flags_ = false;
};

std::string kind_text(const DeviceRecord& device) {
  if (device.kind == "loop") return " on a loop device";
  if (device.kind == "ram") return " on a device in memory";
  if (device.kind == "block") return " on a block device";
  if (device.kind == "directory") return " in an existing directory";
  return device.kind.empty() ? "" : " on a device of kind " + device.kind;
}

/// "zfs (zfs-fuse 0.7.0)"
std::string filesystem_text(const RunRecord& record) {
  if (record.implementation.empty()) return record.filesystem;
  return fmt::format("{} ({})", record.filesystem, record.implementation);
}

std::string heading(const RunRecord& record, const PassRecord& pass) {
  std::string text = fmt::format("Files of median size {} bytes: {}{}, {}", pass.median_file_size_bytes,
                                 filesystem_text(record), kind_text(record.device), process_count(record.processes));
  if (record.environment != "host") text += ", in a guest: " + environment_text(record);
  if (!record.profile.empty()) text += ", profile " + record.profile;
  std::string unusual;
  const auto add = [&](const std::string& condition) {
    if (!condition.empty()) unusual += (unusual.empty() ? "" : "; ") + condition;
  };
  const std::string caches = cache_summary(pass);
  add(caches.empty() ? "" : "caches: " + caches);
  add(sync_text(record.sync));
  add(record.content == "random" ? "" : "content " + record.content);
  add(record.verify ? "content verified" : "");
  return wrapped(ascii_line(text), people_table_width) + wrapped(ascii_line(unusual), people_table_width);
}

std::string legend_text(const RunRecord& record, const Legend& legend) {
  std::string out;
  const auto add = [&](const std::string& line) { out += wrapped(ascii_line(line), people_table_width); };
  for (const std::string& flag : record.flags) add("all figures: " + flag_text(flag));
  for (const std::string& flag : legend.phase_flags) {
    if (flag_text(flag) != flag) add(flag_text(flag));
  }
  for (const std::string& warning : record.warnings) add("warning: " + warning);
  if (record.passes.empty()) return out;
  // The kernel's threads write back, compress and keep the journal: they are a part of a file system's cost.
  const bool host = record.environment == "host";
  add(std::string("files/s: files worked on. MiB/s: file data. CPU %: ") +
      (host ? "all of the machine, kernel threads included; 100 is one CPU. "
            : "all of the guest, which has one CPU. ") +
      (legend.worker_cpu ? "w: of the worker processes alone. " : "") +
      "p99: 99 % of all operations took no longer. read, written: by the device in the phase and in the sync after "
      "it.");
  return out;
}

}  // namespace

std::string people_table(const RunRecord& record) {
  std::string out =
      wrapped(ascii_line(fmt::format("Run {}: {}", record.run_id, status_text(record.status, record.reason))),
              people_table_width);
  Legend legend;
  for (const PassRecord& pass : record.passes) {
    Footnotes notes;
    std::vector<Row> rows;
    for (const PhaseRecord& phase : pass.phases) rows.push_back(row_of(phase, notes, legend));
    out += "\n" + heading(record, pass) + (rows.empty() ? "no phase was run\n" : Grid(rows).text());
    out += notes.text(people_table_width);
  }
  if (record.passes.empty()) out += wrapped(ascii_line("no phase was run on " + record.filesystem), people_table_width);
  const std::string below = legend_text(record, legend);
  return out + (below.empty() ? "" : "\n" + below);
}

}  // namespace mongo
