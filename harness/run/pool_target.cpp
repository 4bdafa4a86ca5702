#include "harness/run/pool_target.h"

#include <fmt/format.h>

#include "harness/core/errors.h"
#include "harness/run/mounted_filesystem.h"

namespace mongo {
void PoolTarget::start() {
  implementation_ = find_zfs(context_.services.runner, true);
  if (implementation_.kind == ZfsImplementation::Kind::none) throw RunError("zfs", implementation_.why_not);
  context_.record.implementation = implementation_.version;
  if (implementation_.kind != ZfsImplementation::Kind::zfs_fuse) return;
  context_.leases.add("end zfs-fuse", [this] {
    if (daemon_) daemon_->stop();
  });
  ZfsDaemon::Notes notes;
  notes.folder = [this](const std::string& path, dev_t device, ino_t inode) {
    context_.journal->add({JournalStep::Kind::directory, path, "", device, inode});
  };
  notes.process = [this](pid_t pid) { context_.journal->add(process_step(pid, "zfs-fuse")); };
  daemon_ = ZfsDaemon::start(context_.services.runner, notes);
  if (const std::string settings = ZfsDaemon::settings(); !settings.empty()) {
    context_.record.mount.settings.push_back("zfsrc=" + settings);
  }
}

fsdrivers::PoolRequest PoolTarget::request(const std::string& node, const std::string& uuid) const {
  const fsdrivers::PoolCommands& commands = *context_.cell.driver->pool;
  return {commands.name(uuid), node, context_.record.mount.point, daemon_ ? daemon_->search_folder(node) : node,
          context_.cell.mkfs_options};
}

std::vector<std::string> PoolTarget::create_argv(const std::string& node, const std::string& uuid) const {
  return context_.cell.driver->pool->create(request(node, uuid));
}

std::string PoolTarget::create(const std::string& node, dev_t device, const std::string& uuid) {
  const fsdrivers::PoolCommands& commands = *context_.cell.driver->pool;
  const fsdrivers::PoolRequest words = request(node, uuid);
  PoolPlan plan{words.pool,
                node,
                words.mount_point,
                implementation_.mount_type(),
                commands.create(words),
                commands.destroy(words),
                commands.export_pool(words),
                commands.import_pool(words),
                commands.sync(words),
                commands.properties(words),
                {}};
  if (daemon_) plan.restart_daemon = [this] { daemon_->restart(); };
  pool_ = std::make_unique<Pool>(context_.services.runner, std::move(plan));
  context_.journal->add({JournalStep::Kind::pool, words.pool, node, device, 0});
  std::string options = pool_->create();
  std::vector<std::string>& settings = context_.record.mount.settings;
  std::erase_if(settings, [](const std::string& setting) { return !setting.starts_with("zfsrc="); });
  for (const auto& [name, value] : pool_->properties()) settings.push_back(fmt::format("{}={}", name, value));
  return options;
}

void PoolTarget::export_pool() { pool_->export_pool(unmount_patience); }

std::string PoolTarget::import_pool() { return pool_->import_pool(); }

void PoolTarget::destroy() {
  if (pool_) pool_->destroy(unmount_patience);
  pool_.reset();
}

void PoolTarget::sync() { pool_->sync(); }

}  // namespace mongo
