#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

// Argument lists as nobody should write them: valid words, near misses, and bytes that break parsers, shells, format
// strings and terminals. List number i of seed s is always the same, on every machine.

namespace mongo::test {

/// What the lists may name. Nothing else that exists on the machine is ever named as a device.
struct HostileWorld {
  std::string folder;                       // for everything below
  std::vector<std::string> usable;          // block devices that a run would take
  std::vector<std::string> with_destroy;    // block devices that a run would take with --destroy only
  std::vector<std::string> refused;         // block devices that no run may take
  std::vector<std::string> no_devices;      // names that are no block devices at all
  std::vector<std::string> mount_points;    // good and bad
  std::vector<std::string> result_files;    // for compare; none of them blocks a reader
  std::vector<std::string> state_folders;   // for MONGO_STATE
  std::vector<std::string> result_folders;  // for --results

  std::vector<std::string> devices() const {
    std::vector<std::string> all = usable;
    all.insert(all.end(), with_destroy.begin(), with_destroy.end());
    all.insert(all.end(), refused.begin(), refused.end());
    return all;
  }
};

struct HostileList {
  std::vector<std::string> arguments;  // without argv[0]
  std::string state;                   // MONGO_STATE
};

class HostileLists {
 public:
  HostileLists(const HostileWorld& world, std::uint32_t seed) : world_(world), seed_(seed) {}

  HostileList list(std::uint32_t index) {
    std::seed_seq sequence{seed_, index};
    random_.seed(sequence);
    HostileList list;
    list.state = pick(world_.state_folders);
    const unsigned kind = below(100);
    if (kind < 82) {
      list.arguments = run();
    } else if (kind < 90) {
      list.arguments = compare();
    } else if (kind < 92) {
      list.arguments = {pick({"devices", "doctor"})};
      if (chance(50)) list.arguments.push_back(pick({"--json", "--results", "--help", "--json=1", "--jso"}));
      if (chance(20)) list.arguments.push_back(text());
    } else if (kind < 95) {
      list.arguments = {"cleanup"};
      if (chance(20)) list.arguments.push_back(text());
    } else {
      list.arguments = nonsense();
    }
    return list;
  }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }  // the same everywhere
  bool chance(unsigned percent) { return below(100) < percent; }
  std::string pick(const std::vector<std::string>& from) { return from[below(static_cast<unsigned>(from.size()))]; }

  std::string atom() {
    static const std::vector<std::string> atoms{"",
                                                "\x01",
                                                "\n",
                                                "\r",
                                                "\t",
                                                "\x1b[2J",
                                                "\x1b]0;title\x07",
                                                "\x7f",
                                                "\xff\xfe",
                                                "\xc3",
                                                "\xed\xa0\x80",
                                                "\xf0\x9f\xa6\x80",
                                                "'",
                                                "\"",
                                                "\\",
                                                "$HOME",
                                                "~",
                                                "*",
                                                "?",
                                                "[",
                                                "{}",
                                                "{0}{1}",
                                                "%s%n",
                                                "%",
                                                "#",
                                                "!",
                                                "=",
                                                ",",
                                                ":",
                                                ";",
                                                "&",
                                                "|",
                                                "<",
                                                ">",
                                                " ",
                                                "-",
                                                "--",
                                                "..",
                                                "/",
                                                "a",
                                                "0",
                                                "-1",
                                                "1e9",
                                                "run",
                                                "null",
                                                "nan"};
    switch (below(10)) {
      case 0:
        return "$(touch " + world_.folder + "/owned)";
      case 1:
        return "`touch " + world_.folder + "/owned`";
      case 2:
        return "; touch " + world_.folder + "/owned #";
      case 3:
        return std::string(1 + below(8), static_cast<char>(1 + below(255)));
      default:
        return pick(atoms);
    }
  }

  std::string text() {
    if (chance(2)) return std::string(chance(50) ? 5000 : 70000, static_cast<char>('A' + below(26)));
    std::string all;
    for (unsigned i = below(4) + 1; i > 0; --i) all += atom();
    return all;
  }

  /// A valid word with one thing wrong.
  std::string near_miss(std::string word) {
    if (word.empty()) return text();
    const unsigned at = below(static_cast<unsigned>(word.size()));
    switch (below(6)) {
      case 0:
        word.erase(at, 1);
        break;
      case 1:
        word.insert(at, 1, word[at]);
        break;
      case 2:
        word[at] = static_cast<char>(1 + below(255));
        break;
      case 3:
        word += atom();
        break;
      case 4:
        word.insert(0, atom());
        break;
      default:
        for (char& c : word) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    }
    return word;
  }

  /// Mostly one of the valid words, else a near miss of it or anything.
  std::string from(const std::vector<std::string>& valid, unsigned percent_valid) {
    const std::string word = pick(valid);
    if (calm_ || chance(percent_valid)) return word;
    return chance(60) ? near_miss(word) : text();
  }

  std::string device() {
    switch (below(calm_ ? 8 : 12)) {
      case 0:
      case 1:
      case 2:
        return pick(world_.usable);
      case 3:
      case 4:
        return pick(world_.with_destroy);
      case 5:
      case 6:
        return pick(world_.refused);
      case 7:
        return pick(world_.no_devices);
      case 8:
        return pick({"ram:", "loop:"}) + from({"64MiB", "1GiB", "512", "2G", "100MB"}, 40);
      case 9:
        return pick({"ram:0", "ram:-1MiB", "ram:99999999999G", "ram:18446744073709551616", "ram:1.5MiB", "ram:513",
                     "loop:", "ram:", "loop:loop:1GiB", "loop:/dev/null", "LOOP:1GiB", "ram:1e3", "loop: 1GiB"});
      case 10:
        return "loop:" + pick(world_.no_devices);
      default:
        // As if the name were pasted into a command line, or printed into a plan.
        return pick({"./", "", " "}) + pick(world_.usable) + pick({" ", "\n  mkfs.ext4 ", ",", ";"}) +
               pick(world_.refused);
    }
  }

  std::string mkfs_options() {
    const std::string other = pick(world_.devices());
    const std::string relative = other.substr(1);
    switch (below(8)) {
      case 0:
        return pick({"-J device=", "-Jdevice=", "-j ", "-j", "-l logdev=", "-llogdev=", "-r rtdev=", "-d name=",
                     "--rootdir ", "--rootdir=", "-z ", "-d ", "-E offset=0,", "-l file,name=", "-O quota "}) +
               (chance(50) ? other : relative);
      case 1:
        return other;
      case 2:
        return "-- " + other;
      case 3:
        return pick({"'", "\"", "\\", "'-J' 'device=" + other + "'", "-J\\ device=" + other, "-J 'device='" + other,
                     "\"-J\" \"dev\"ice=" + other, "-N 4000 '' ", "-J device=/dev/../" + relative});
      case 4:
        return "-l logdev=" + world_.folder + "/image";
      default:
        return from({"-N 4000", "-b 4096", "-O ^has_journal", "-m crc=0", "-M", "-I 128 -N 100", "-E stride=4"}, 70);
    }
  }

  std::string mount_options() {
    if (chance(25)) {
      const std::string name =
          pick({"logdev", "rtdev", "journal_path", "journal_dev", "device", "loop", "helper", "jdev", "hashdevice"});
      return pick({"", "noatime,", "\"a,b\","}) + name + "=" + pick(world_.devices());
    }
    return from({"noatime", "noatime,data=journal", "nobarrier", "ro", "bind", "remount", "x-mount.mkdir", ",", "a,,b",
                 "context=\"a,b\"", "discard"},
                70);
  }

  std::vector<std::string> option() {
    switch (below(13)) {
      case 0:
      case 1:
        return {"--mkfs-options", mkfs_options()};
      case 2:
        return {"--mount-options", mount_options()};
      case 3:
        return {"--profile", from({"smoke", "smoke", "smoke", "classic"}, 80)};
      case 4:
        return {"--phases", from({"create", "create,read,delete", "delete,create", "read", "create,create", ","}, 70)};
      case 5:
        return {"--repetitions", from({"1", "3", "1000", "1001", "0", "-1", "99999999999999999999", "1.5"}, 70)};
      case 6:
        return {"--results", chance(70) ? pick(world_.result_folders) : world_.folder + "/cwd/" + text()};
      case 7:
      case 8:
        return {"--destroy"};
      case 9:
        return {pick({"--json", "--quiet", "--json", "--dry-run", "--help", "-h", "--destroy=maybe", "--json=x"})};
      case 10:
        return {near_miss(pick({"--mkfs-options", "--mount-options", "--destroy", "--quiet", "--profile"}))};
      case 11:
        return {
            pick({"--mkfs-options", "--profile", "--phases", "--repetitions", "--results", "--", "-", "--=", "-x"})};
      default:
        return {pick({"--mkfs-options=", "--mount-options=", "--phases=", "--results="}) + text()};
    }
  }

  /// Many of the runs could be meant, and are about the device and the mount point; the others are not.
  std::vector<std::string> run() {
    calm_ = chance(40);
    std::vector<std::string> words = calm_ ? calm_run() : wild_run();
    calm_ = false;
    // Always first, where nothing before it can take it for a value.
    words.insert(words.begin(), {"run", "--dry-run"});
    if (chance(2)) words.insert(words.begin(), pick({"--help", "--version", "-v", "--", ""}));
    return words;
  }

  std::vector<std::string> calm_run() {
    std::vector<std::string> words{
        pick({"ext2", "ext3", "ext4", "xfs", "btrfs", "ext4", "xfs", "ext3", "zfs"}),
        device(),
        chance(70) ? pick({world_.folder + "/empty", world_.folder + "/missing"}) : pick(world_.mount_points),
        pick({"log", "log ext3", "l\xc3\xb6g"}),
        pick({"1", "2", "1000"}),
        "--profile",
        "smoke"};
    if (chance(40)) words.push_back("--destroy");
    if (chance(20)) words.insert(words.end(), {"--mount-options", mount_options()});
    if (chance(20)) words.insert(words.end(), {"--mkfs-options", mkfs_options()});
    if (chance(10)) words.insert(words.end(), {"--results", pick(world_.result_folders)});
    // What no machine can run: status 4.
    if (words[0] == "zfs" && chance(50)) words.insert(words.end(), {"--environment", "uml"});
    return words;
  }

  std::vector<std::string> wild_run() {
    std::vector<std::string> words{
        from({"ext2", "ext3", "ext4", "xfs", "btrfs", "ext4", "xfs", "reiserfs", "zfs"}, 90), device(),
        chance(85) ? pick(world_.mount_points) : world_.folder + "/cwd/" + text(),
        from({"log", "log ext3", "a/b", "../x", "", "-n", ".", "log.tbl", std::string(201, 'x'), "con\ntrol"}, 85),
        from({"1", "1", "1", "2", "4", "1000", "1001", "0", "-1", "+4", " 4", "007", "0x10"}, 90)};
    if (!chance(70)) words.insert(words.end(), {"--profile", "smoke"});
    for (unsigned i = below(4); i > 0; --i) {
      const std::vector<std::string> more = option();
      const bool in_front = chance(20);
      words.insert(in_front ? words.begin() : words.end(), more.begin(), more.end());
    }
    if (chance(12)) mutate(words);
    return words;
  }

  void mutate(std::vector<std::string>& words) {
    const unsigned at = below(static_cast<unsigned>(words.size()));
    const unsigned other = below(static_cast<unsigned>(words.size()));
    switch (below(5)) {
      case 0:
        words.erase(words.begin() + at);
        break;
      case 1:
        words.insert(words.begin() + at, words[other]);
        break;
      case 2:
        std::swap(words[at], words[other]);
        break;
      case 3:
        words.insert(words.begin() + at, text());
        break;
      default:
        words[at] = near_miss(words[at]);
    }
  }

  std::vector<std::string> compare() {
    std::vector<std::string> words{"compare"};
    for (unsigned i = below(5); i > 0; --i) {
      words.push_back(chance(75) ? pick(world_.result_files) : world_.folder + "/cwd/" + text());
    }
    if (chance(10)) words.push_back(text());
    return words;
  }

  std::vector<std::string> nonsense() {
    static const std::vector<std::string> starts{"",           "Run", "runs",   "--dry-run", "--help",
                                                 "--version",  "-h",  "--help", "--version", "cleanup",
                                                 "frobnicate", "--",  "?",      "help",      "compare"};
    std::vector<std::string> words;
    if (chance(80)) words.push_back(pick(starts));
    for (unsigned i = below(4); i > 0; --i) {
      std::string word = text();
      if (word == "run") word = "ran";  // a run without --dry-run is not for this
      words.push_back(word);
    }
    return words;
  }

  const HostileWorld& world_;
  std::uint32_t seed_;
  bool calm_ = false;
  std::mt19937 random_;
};

}  // namespace mongo::test
