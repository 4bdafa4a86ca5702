#pragma once

#include <string>
#include <vector>

#include "harness/core/record.h"

namespace mongo {

/// Everything that libblkid recognises on the device or file: file systems, RAID and volume manager members, partition
/// tables. All of them, also where there are several. Throws RunError("probe", ...) when it cannot tell, so that
/// callers fail closed.
std::vector<Signature> read_signatures(const std::string& path);

/// Makes a block device blank, as the guard understands it: every signature until none is found any more, and the
/// places where data is looked for. So what fails between this and the end of mkfs leaves a device that is accepted
/// again. Syncs. Throws RunError("wipe", ...).
void wipe_signatures(const std::string& path);

/// A UUID whose first bytes say that this tool made it ("mongo-" in ASCII: 6d6f6e67-6f2d-8xxx-...), the rest random.
/// Version 8 of RFC 9562: free for vendors.
std::string make_uuid();

/// The signatures are at most one file system that this tool made: label "mongo" and a UUID of make_uuid's form, or a
/// ZFS pool whose name is "mongo-" and such a UUID.
/// The label alone is no proof: people label the disks of their databases so.
bool made_by_this_tool(const std::vector<Signature>& signatures);

/// "xfs file system, label \"data\", UUID ..."; for messages and the log.
std::string describe(const Signature& signature);

}  // namespace mongo
