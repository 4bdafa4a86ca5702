#include "harness/device/journal_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "harness/device/system_files.h"

namespace mongo {
namespace {

using Json = nlohmann::json;

constexpr std::pair<JournalStep::Kind, const char*> kinds[] = {
    {JournalStep::Kind::directory, "directory"}, {JournalStep::Kind::mount, "mount"},
    {JournalStep::Kind::loop, "loop"},           {JournalStep::Kind::lock, "lock"},
    {JournalStep::Kind::process, "process"},     {JournalStep::Kind::pool, "pool"},
};

/// File names may be any bytes and JSON is UTF-8, so each byte becomes the character of that number and back.
std::string to_utf8(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0 | byte >> 6);
      text += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return text;
}

std::string from_utf8(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x80 && i + 1 < text.size()) {
      bytes += static_cast<char>((byte & 0x03) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f));
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

}  // namespace

JournalHeader describe_self(const std::string& run_id) {
  JournalHeader header;
  header.run_id = run_id;
  header.pid = getpid();
  header.boot_id = devio::trimmed(devio::read_file("/proc/sys/kernel/random/boot_id").text);
  header.mount_namespace = devio::read_link("/proc/self/ns/mnt").text;
  header.command_line = devio::read_file("/proc/self/cmdline").text;
  struct stat program {};
  if (stat("/proc/self/exe", &program) == 0) header.program = fmt::format("{}:{}", program.st_dev, program.st_ino);
  return header;
}

std::string to_line(const JournalHeader& header) {
  return Json{{"mongo_journal", 1},
              {"run_id", header.run_id},
              {"pid", header.pid},
              {"boot_id", header.boot_id},
              {"mount_namespace", header.mount_namespace},
              {"program", header.program},
              {"command_line", to_utf8(header.command_line)}}
             .dump() +
         "\n";
}

std::string to_line(const JournalStep& step) {
  const char* kind = "";
  for (const auto& [value, name] : kinds) {
    if (value == step.kind) kind = name;
  }
  return Json{{"step", kind},
              {"path", to_utf8(step.path)},
              {"node", to_utf8(step.node)},
              {"device", step.device},
              {"inode", step.inode}}
             .dump() +
         "\n";
}

std::optional<JournalText> parse_journal(const std::string& text) {
  JournalText journal;
  bool headed = false;
  for (const std::string& line : devio::lines_of(text)) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) continue;
    try {
      if (!headed) {
        if (json.at("mongo_journal") != 1) return std::nullopt;
        journal.header = {json.at("run_id"),          json.at("pid"),     json.at("boot_id"),
                          json.at("mount_namespace"), json.at("program"), from_utf8(json.at("command_line"))};
        headed = true;
        continue;
      }
      JournalStep step;
      step.path = from_utf8(json.at("path"));
      step.node = from_utf8(json.at("node"));
      step.device = json.at("device");
      step.inode = json.at("inode");
      for (const auto& [value, name] : kinds) {
        if (json.at("step") == name) {
          step.kind = value;
          journal.steps.push_back(step);
        }
      }
    } catch (const Json::exception&) {
      continue;  // a line of another version: what it says cannot be proven, so nothing is undone by it
    }
  }
  if (!headed) return std::nullopt;
  return journal;
}

}  // namespace mongo
