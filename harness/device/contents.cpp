#include "harness/device/contents.h"

#include <fmt/format.h>

#include "harness/device/signatures.h"

namespace mongo {

std::optional<Refusal> refuse_contents(const KernelView& kernel, const std::string& path, bool destroy) {
  const std::vector<Signature> found = kernel.signatures(path);
  if (destroy) return std::nullopt;
  Refusal refusal{Refusal::Reason::signature, "", "", "",
                  "If all of it may be lost, say so with --destroy; otherwise name another device."};
  if (found.empty()) {
    // Archives, encrypted volumes without a header, raw data: nothing says what it is, and all of it can be dear.
    const std::optional<std::uint64_t> byte = kernel.first_data(path);
    if (!byte) return std::nullopt;
    refusal.what = fmt::format("holds data of no known kind (first at byte {})", *byte);
    return refusal;
  }
  if (made_by_this_tool(found)) return std::nullopt;
  std::string text;
  for (const Signature& signature : found) text += (text.empty() ? "" : "; ") + describe(signature);
  refusal.what = "carries " + text;
  refusal.evidence = "libblkid";
  return refusal;
}

}  // namespace mongo
